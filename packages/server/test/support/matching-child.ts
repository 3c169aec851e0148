// Matching in a process of its own, for tests that kill it: prints a line after each step.
import { matchAsServer } from "./matching.ts";

let steps = 0;
await matchAsServer(process.env, () => console.log(`step ${(steps += 1)}`));
console.log("ended");
