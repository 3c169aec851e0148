// Runs `moorage doctor` for tests.
import assert from "node:assert/strict";
import { moorage } from "./commands.ts";

/** What it found about one thing. */
export interface Found {
  name: string;
  state: string;
  message: string;
  fix?: string;
}

/** Runs the command. `of` answers the checks of a name, and `states` their states. */
export async function doctor(args: readonly string[], options: { cwd: string; env?: Record<string, string> }) {
  const { code, stdout, stderr } = await moorage(["doctor", ...args, "-o", "json"], options);
  assert.equal(stderr, "");
  const { checks } = JSON.parse(stdout) as { checks: Found[] };
  const of = (name: string): Found[] => checks.filter((check) => check.name === name);
  const states = (name: string): string =>
    of(name)
      .map(({ state }) => state)
      .join();
  return { code, stdout, checks, of, states };
}
