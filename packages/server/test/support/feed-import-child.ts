// An import into a feed in a process of its own, for tests that kill it: prints a line after each batch.
import { loadConfig, withFeeds } from "../../src/index.ts";

const [feed = "", file = ""] = process.argv.slice(2);
await withFeeds(loadConfig(process.env), (feeds) =>
  feeds.importData(feed, file, { progress: (records) => console.log(`read ${records}`) }),
);
console.log("ended");
