// An import into a feed in a process of its own, for tests that kill it: prints a line after each batch, and stops
// after so many, so that it is not over before it is killed.
import { writeSync } from "node:fs";
import { loadConfig, withFeeds } from "../../src/index.ts";

const [feed = "", file = "", most = ""] = process.argv.slice(2);
let batches = 0;
await withFeeds(loadConfig(process.env), (feeds) =>
  feeds.importData(feed, file, {
    progress: (records) => {
      // Without a buffer, since nothing runs any more once it stops.
      writeSync(1, `read ${records}\n`);
      if (++batches === Number(most)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 120_000);
    },
  }),
);
console.log("ended");
