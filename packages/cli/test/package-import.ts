// A source of packages that moves into acme/old: its plan, applying that, and what is here then.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { openStage, type Stage } from "./tasks-stage.ts";

/** An item of a plan. */
interface Item {
  kind: string;
  source: string;
  action: string;
  why: string;
}

/** What applying a plan came to. */
export interface Report {
  code: number;
  counts: Record<string, number | string>[];
  failed: { kind: string; name: string; why: string }[];
}

/** A source, by its address, with what it was asked for. */
interface Source {
  url: string;
  seen: readonly unknown[];
}

/** A file of the server. */
export async function get(stage: Stage, path: string, accept = "*/*"): Promise<Response> {
  const authorization = `Bearer ${(await stage.ok("token")).trim()}`;
  return fetch(`${stage.url}${path}`, { headers: { authorization, accept } });
}

/** How sources of the kind move in, with the credentials of `reader`. */
export function packageImport(kind: string, reader: { user: string; password: string }) {
  const pull = ["--pull-username", reader.user, "--pull-password-file", "password", "-o", "json"];
  const command = (url: string, into = "acme/old"): string[] => ["import-from", kind, url, "--into", into];
  const apply = async (stage: Stage, { url }: Source, into?: string): Promise<Report> => {
    const { code, stdout, stderr } = await stage.run([...command(url, into), "--apply", "plan.json", ...pull]);
    assert.ok(code === 0 || code === 9, stderr);
    return { ...(JSON.parse(stdout) as Omit<Report, "code">), code };
  };
  return {
    pull,
    command,
    apply,
    async open(t: TestContext): Promise<Stage> {
      const stage = await openStage(t);
      writeFileSync(join(stage.folder, "password"), reader.password);
      await stage.ok("groups", "create", "acme/old");
      return stage;
    },
    async planOf(stage: Stage, { url }: Source, { into, flags = [] }: { into?: string; flags?: string[] } = {}) {
      const read = ["--username", reader.user, "--password-file", "password"];
      await stage.ok(...command(url, into), "--plan", "plan.json", ...read, ...flags);
      return (JSON.parse(readFileSync(join(stage.folder, "plan.json"), "utf8")) as { items: Item[] }).items;
    },
    /** Applies the plan again, when all that it has is here: nothing is done, and nothing is asked for. */
    async appliesNothing(stage: Stage, source: Source): Promise<void> {
      const before = source.seen.length;
      const { counts } = await apply(stage, source);
      assert.deepEqual(
        counts.filter(({ done }) => Number(done) > 0),
        [],
      );
      assert.equal(source.seen.length, before, "nothing is asked for when all is here");
    },
  };
}
