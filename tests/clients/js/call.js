// Calls the service of ../go over grpc-js's xDS. See ../go/main.go for what it reads and writes.
"use strict";
const readline = require("readline");
const grpc = require("@grpc/grpc-js");
require("@grpc/grpc-js-xds").register();

const MINUTE = 60_000;

// google.protobuf.StringValue: field 1 and a length below 128; "" is no bytes at all.
const encode = () => Buffer.alloc(0);
const decode = (bytes) => bytes.subarray(2).toString();

function callOnce(client, { method, headers }) {
  const metadata = new grpc.Metadata();
  for (const [name, value] of Object.entries(headers ?? {})) metadata.set(name, value);
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest(`/fairlead.test.Echo/${method}`, encode, decode, null, metadata,
      { deadline: Date.now() + MINUTE }, (error, answer) => (error ? reject(error) : resolve(answer)));
  });
}

async function call(client, order) {
  const done = { answers: {}, errors: {} };
  const count = (table, key) => (table[key] = (table[key] ?? 0) + 1);
  for (let i = 0; i < order.count; ++i) {
    await callOnce(client, order).then((answer) => count(done.answers, answer), (error) => count(done.errors, error.message));
  }
  return done;
}

async function main() {
  const clients = new Map();
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const order = JSON.parse(line);
    if (!clients.has(order.target)) clients.set(order.target, new grpc.Client(order.target, grpc.credentials.createInsecure()));
    console.log(JSON.stringify(await call(clients.get(order.target), order)));
  }
  for (const client of clients.values()) client.close();
}

main();
