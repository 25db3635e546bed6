"""Stand-ins for the images of Istio's samples: `sample_apps.py NAME PORT` answers as the program of that name does.

NAME: productpage, details, ratings, reviews-v1, reviews-v2, reviews-v3, helloworld-v1, helloworld-v2, httpbin.
"""
import http.server
import json
import os
import re
import signal
import sys
import urllib.error
import urllib.request

NAME, PORT = sys.argv[1], int(sys.argv[2])
STARS = {"reviews-v2": "black", "reviews-v3": "red"}
PASSED_ON = ("end-user", "x-request-id", "traceparent")


def ask(url, headers):
    """(status, JSON) of another service's answer."""
    try:
        request = urllib.request.Request(url, headers={k: v for k, v in headers.items() if k.lower() in PASSED_ON})
        with urllib.request.urlopen(request, timeout=8) as answer:
            return answer.status, json.loads(answer.read())
    except urllib.error.HTTPError as error:
        return error.code, {}
    except OSError:
        return 503, {}


def productpage(path, headers):
    if not path.startswith("/productpage"):
        return 404, "text/plain", "nothing here"
    status, reviews = ask("http://reviews:9080/reviews/0", headers)
    details = ask("http://details:9080/details/0", headers)[1]
    body = "\n".join(review["text"] + json.dumps(review.get("rating", "")) for review in reviews.get("reviews", ())) if status == 200 else "Error fetching product reviews!"
    return 200, "text/html", f"<html><title>Simple Bookstore App</title>{details.get('author', 'Error fetching product details!')}\n{body}</html>"


def reviews(_, headers):
    rating = {}
    if NAME in STARS:
        status, ratings = ask("http://ratings:9080/ratings/0", headers)
        found = ratings.get("ratings", {}).get("Reviewer1") if status == 200 else None
        rating = {"rating": {"stars": found, "color": STARS[NAME]} if found else {"error": "Ratings service is currently unavailable"}}
    return 200, "application/json", json.dumps({"id": "0", "podname": os.uname().nodename, "clustername": "null", "reviews": [
        {"reviewer": "Reviewer1", "text": "An extremely entertaining play", **rating}]})


def httpbin(path, headers):
    found = re.fullmatch(r"/status/(\d+)", path)
    if found:
        return int(found[1]), "text/plain", ""
    return 200, "application/json", json.dumps({"headers": {k: [v] for k, v in headers.items()}, "url": path})


def answer(path, headers):
    if NAME == "productpage":
        return productpage(path, headers)
    if NAME == "details":
        return 200, "application/json", json.dumps({"id": 0, "author": "William Shakespeare", "year": 1595})
    if NAME == "ratings":
        return 200, "application/json", json.dumps({"id": 0, "ratings": {"Reviewer1": 5, "Reviewer2": 4}})
    if NAME.startswith("reviews"):
        return reviews(path, headers)
    if NAME.startswith("helloworld"):
        return 200, "text/plain", f"Hello version: {NAME[-2:]}, instance: {os.uname().nodename}\n"
    return httpbin(path, headers)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        status, kind, text = answer(self.path, dict(self.headers))
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(text.encode())))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(text.encode())

    do_HEAD = do_GET

    def log_message(self, *_):
        pass


signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
http.server.ThreadingHTTPServer(("", PORT), Handler).serve_forever()
