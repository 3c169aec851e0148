// Commands with a token in their environment, which signing one with the data folder's key would slow down.
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type { Outcome } from "./commands.ts";
import { openStage, type Stage } from "./tasks-stage.ts";

/** A server with an owner's token. */
export interface Quick extends Stage {
  /** The environment of a command for the server. */
  env: { MOORAGE_TOKEN: string; MOORAGE_URL: string };
  /** Runs a command as the owner. */
  as(...args: string[]): Promise<Outcome>;
  /** Runs a command that must succeed; what it prints on standard output. */
  done(...args: string[]): Promise<string>;
}

/** Starts a server, with further settings by their variables. */
export async function openQuick(t: TestContext, settings: Record<string, string> = {}): Promise<Quick> {
  const stage = await openStage(t, settings);
  const env = { MOORAGE_TOKEN: (await stage.ok("token")).trim(), MOORAGE_URL: stage.url };
  const as: Quick["as"] = (...args) => stage.run(args, env);
  return {
    ...stage,
    env,
    as,
    async done(...args) {
      const { code, stdout, stderr } = await as(...args);
      assert.equal(code, 0, `moorage ${args.join(" ")}: ${stderr}`);
      return stdout;
    },
  };
}
