import { parentPort } from "node:worker_threads";
import { checkSync, type Parameters } from "recheck";

parentPort?.on("message", ({ source, flags, parameters }: { source: string; flags: string; parameters: Parameters }) =>
  parentPort?.postMessage(checkSync(source, flags, parameters)),
);
