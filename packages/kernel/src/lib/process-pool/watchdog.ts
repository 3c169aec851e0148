// The thread of a child process that ends it when its parent is gone or its memory is too much, whatever its main
// thread does.
import { writeSync } from "node:fs";
import { workerData } from "node:worker_threads";
import { OUT_OF_MEMORY } from "./messages.ts";

/** Whose child it is, and what it may have of memory, in bytes. */
export interface WatchdogData {
  parentPid: number;
  maxRssBytes: number;
}

const EVERY_MS = 100;

const { parentPid, maxRssBytes } = workerData as WatchdogData;

function end(line: string): void {
  try {
    writeSync(2, `${line}\n`);
  } finally {
    process.kill(process.pid, "SIGKILL");
  }
}

setInterval(() => {
  if (process.ppid !== parentPid) end("moorage: the parent process is gone");
  const rssBytes = process.memoryUsage.rss();
  if (rssBytes > maxRssBytes) end(`${OUT_OF_MEMORY}: ${rssBytes} bytes`);
}, EVERY_MS);
