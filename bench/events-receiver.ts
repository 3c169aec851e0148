// A minimal receiver: it counts POST requests; GET returns how many came and when, in milliseconds of its own clock;
// DELETE resets the count. PORT is the only argument.
import { createServer } from "node:http";

/** What was received since the last DELETE. */
export interface Received {
  count: number;
  firstMs: number;
  lastMs: number;
}

if (import.meta.main) {
  let received: Received = { count: 0, firstMs: 0, lastMs: 0 };
  createServer((req, res) => {
    if (req.method === "POST") {
      req.resume().once("end", () => {
        const nowMs = performance.now();
        received = {
          count: received.count + 1,
          firstMs: received.count === 0 ? nowMs : received.firstMs,
          lastMs: nowMs,
        };
        res.writeHead(204).end();
      });
      return;
    }
    if (req.method === "DELETE") received = { count: 0, firstMs: 0, lastMs: 0 };
    res.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(received));
  }).listen(Number(process.argv[2]), "127.0.0.1");
}
