"""Reports of xdsload as rows, and rows as one table."""

COLUMNS = [
    ("scenario", "scenario", "{}"),
    ("what", "what", "{}"),
    ("who", "server", "{}"),
    ("proxies", "proxies", "{}"),
    ("cpu", "CPU s", "{:.3f}"),
    ("p50", "p50 ms", "{:.0f}"),
    ("p99", "p99 ms", "{:.0f}"),
    ("wall", "all ms", "{:.0f}"),
    ("trigger", "of it the trigger", "{:.0f}"),
    ("mb", "MB sent", "{:.2f}"),
    ("responses", "responses", "{:.0f}"),
    ("each", "us CPU a response", "{:.0f}"),
    ("rss", "RSS", "{:.0f}"),
    ("peak", "peak", "{:.0f}"),
    ("broken", "broken", "{}"),
    ("load", "load", "{}"),
    ("ratio", "to the floor", "{}"),
]


def start_row(name, who, ready_ms, ready_rss):
    return {"scenario": name, "what": "start", "who": who, "wall": ready_ms, "rss": ready_rss}


def phase(report, what, who, name):
    """The columns that all phases of xdsload have."""
    return {"scenario": name, "what": what, "who": who, "cpu": report.get("server_cpu_s"),
            "mb": report["bytes"]["all"] / 1e6, "responses": report["responses"]["all"],
            "resources": report["resources"]["all"], "rss": report.get("server_rss_after_mb"),
            "peak": report.get("server_rss_peak_mb"), "load": report["loadavg"].split()[0]}


def change_row(name, who, change):
    """The median run, by CPU seconds, with the median times."""
    runs = sorted(change["runs"], key=lambda r: r.get("server_cpu_s") or 0)
    row = phase(runs[(len(runs) - 1) // 2], change["name"], who, name)
    row["cpu"] = sum(r.get("server_cpu_s") or 0 for r in runs) / len(runs)  # of steps of 10 ms: the mean says more
    if row["responses"]:
        row["each"] = row["cpu"] * 1e6 / row["responses"]
    row.update(proxies=runs[0]["time"]["n"], p50=change["median"]["p50_ms"], p99=change["median"]["p99_ms"],
               wall=change["median"]["max_ms"], trigger=change["median"]["trigger_ms"])
    return row


def rows(name, who, report, ready_ms=None, ready_rss=None):
    out = [start_row(name, who, ready_ms, ready_rss)] if ready_ms is not None else []
    connect = report["connect"]
    row = phase(connect, "connect", who, name)
    if report["streams_per_conn"] > 1:
        row["what"] = f"connect, {report['streams_per_conn']} streams a connection"
    row.update(proxies=connect["configured"], p50=connect["each"]["p50_ms"], p99=connect["each"]["p99_ms"],
               wall=connect["all_configured_ms"], broken=report["reconnects"])
    out.append(row)
    out += [change_row(name, who, change) for change in report["changes"] if change["runs"]]
    if report.get("reconnect"):
        again = report["reconnect"]
        row = phase(again, f"reconnect ({again['resources']['all']} resources)", who, name)
        row.update(proxies=again["answered"], wall=again["all_answered_ms"])
        out.append(row)
    if report.get("stuck"):
        stuck = report["stuck"]
        out.append({"scenario": name, "what": f"cut of {stuck['streams']} that do not read", "who": who, "proxies": stuck["cut"],
                    "wall": stuck["all_cut_ms"]})
    return out


def phase_of(row):
    """What was done, without how much came of it."""
    return row["what"].split(" (")[0]


def add_ratios(all_rows):
    """Fairlead's and istiod's CPU seconds and RSS as multiples of the floor's for the same bytes."""
    floors = {row["scenario"]: row for row in all_rows if row["who"] == "floor"}
    for row in all_rows:
        floor = floors.get(row["scenario"])
        if floor is None or row["who"] == "floor" or row["what"] != "connect" or not (row["cpu"] and floor["cpu"]):
            continue
        row["ratio"] = f"{row['cpu'] / floor['cpu']:.1f} x CPU, {row['rss'] / floor['rss']:.1f} x RSS"
    by_key = {(row["scenario"], phase_of(row)): row for row in all_rows if row["who"] == "Fairlead"}
    for row in all_rows:
        ours = by_key.get((row["scenario"], phase_of(row)))
        if row["who"] == "istiod" and ours and row.get("cpu") and ours.get("cpu"):
            row["ratio"] = f"Fairlead's CPU is {ours['cpu'] / row['cpu']:.3f} of it"


def text(all_rows):
    add_ratios(all_rows)
    lines = ["| " + " | ".join(title for _, title, _ in COLUMNS) + " |", "|" + "---|" * len(COLUMNS)]
    for row in all_rows:
        cells = ["" if row.get(key) is None else form.format(row[key]) for key, _, form in COLUMNS]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)
