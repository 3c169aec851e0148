// Work for tests of bars. How far it is comes over a socket, a number of bytes in each line: a terminal would echo it.
import { once } from "node:events";
import { connect } from "node:net";
import { createInterface } from "node:readline";
import { withProgress } from "../src/terminal/progress.ts";

const TOTAL = 4096;
const socket = connect(Number(process.argv[2]), "127.0.0.1");
await once(socket, "connect");

await withProgress("the half of it is there: do it again", async ({ progress, note }) => {
  progress({ step: "blobs", done: 0, total: TOTAL, unit: "bytes" });
  for await (const line of createInterface({ input: socket })) {
    if (line === "note") note("to know");
    else progress({ step: "blobs", done: Number(line), total: TOTAL, unit: "bytes" });
    if (line === String(TOTAL)) break;
  }
  progress({ step: "tables", done: 3, total: 3, unit: "rows" });
});
socket.destroy();
console.log("done");
