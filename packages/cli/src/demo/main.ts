// `npm run demo`: the main use case from end to end, without input and offline, against a fresh server in a temporary
// folder.
import { makeTempFolder } from "@moorage/server";
import type { Stop } from "./child.ts";
import { playDiff } from "./diff.ts";
import { playExchange } from "./exchange.ts";
import { playHistory, playPublic } from "./images.ts";
import { playFinding } from "./finding.ts";
import { playGrpc, playRest } from "./platform.ts";
import { setStage } from "./stage.ts";

const DEMO_TIMEOUT_MS = 120_000;

const temp = makeTempFolder("demo");
const folder = temp.path;
const stops: Stop[] = [];
const { promise: stopped, reject: stop } = Promise.withResolvers<never>();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => stop(new Error(`stopped by ${signal}`)));
const timer = setTimeout(() => stop(new Error("the demo took too long")), DEMO_TIMEOUT_MS);

async function play(): Promise<string> {
  const stage = await setStage(folder, stops);
  await playRest(stage);
  await playGrpc(stage);
  const pinned = await playHistory(stage);
  await playDiff(stage);
  await playFinding(stage);
  await playPublic(stage);
  await playExchange(stage);
  return pinned;
}

/** Stops the children and removes the folder, whatever failed before; returns the errors of doing so. */
async function cleanUp(): Promise<unknown[]> {
  const ended = await Promise.allSettled(stops.map((end) => end()));
  const removed = await Promise.allSettled([temp.remove()]);
  return [...ended, ...removed].flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
}

const outcome = await Promise.race([play(), stopped]).then(
  (pinned) => ({ pinned }),
  (error: unknown) => ({ error }),
);
clearTimeout(timer);
const failures = [...("error" in outcome ? [outcome.error] : []), ...(await cleanUp())];
for (const error of failures) console.error(`\ndemo failed: ${error instanceof Error ? error.message : String(error)}`);
if ("pinned" in outcome && failures.length === 0)
  console.log(`\nThe first build, pinned whatever its tag does:\n\n  ${outcome.pinned}\n`);
process.exit(failures.length === 0 ? 0 : 1);
