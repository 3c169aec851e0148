import type { Call } from "@moorage/kernel/core/call";
import { command } from "@moorage/kernel/core/command";
import { type Database, statement } from "@moorage/kernel/store";
import { followCommands } from "./follow-commands.ts";
import { noteSighting } from "./age.ts";
import { noteCenterPulls } from "./center-pulls.ts";
import { type RegistryRate, rateText } from "./rate.ts";
import { isOrigin } from "./stand-ins.ts";

/** What is found out anew when it is lost. */
const AGAIN = { isolation: "read committed", durability: "deferred" } as const;

/** What a registry answered: what is undefined stays as it is noted. */
export interface UpstreamNote {
  uid: string;
  /** Whether it answered as a registry does. */
  succeeded?: boolean;
  /** What was wrong; empty when nothing is any more. */
  error?: string;
  rate?: RegistryRate;
  /** Until when nothing is asked, in milliseconds since 1970. */
  heldUntilMs?: number;
}

/** Notes what a registry answered. */
export const noteUpstream = command(
  "upstreams.noteUpstream",
  async ({ tx, nowMs }: Call, { uid, succeeded, error, rate, heldUntilMs }: UpstreamNote): Promise<void> => {
    await tx
      .updateTable("registry_upstreams")
      .set({
        ...(succeeded === true && { last_success_time: nowMs }),
        ...(error !== undefined && { last_error: error, last_error_time: error === "" ? null : nowMs }),
        ...(rate !== undefined && { rate: rateText(rate) }),
        ...(heldUntilMs !== undefined && { held_until: heldUntilMs }),
      })
      .where("uid", "=", uid)
      .execute();
  },
  AGAIN,
);

const selectCheck = statement<{ check_time: number }>(
  "select check_time from upstream_tags where repo = ? and tag = ?",
  ["text", "text"],
);

/** When the tag was last compared with the registry's, in milliseconds since 1970; undefined when it was not. */
export async function checkTimeOf(tx: Database, repo: string, tag: string): Promise<number | undefined> {
  return (await selectCheck(tx, repo, tag))[0]?.check_time;
}

/** Notes that a tag was compared with the registry's now. */
export async function noteCheck({ tx, nowMs }: Call, repo: string, tag: string): Promise<void> {
  await tx
    .insertInto("upstream_tags")
    .values({ repo, tag, check_time: nowMs })
    .onConflict((on) => on.columns(["repo", "tag"]).doUpdateSet({ check_time: nowMs }))
    .execute();
}

/** Notes that a tag was compared with the registry's, unless the repo is none of a registry any more. */
export const noteTagCheck = command(
  "upstreams.noteTagCheck",
  async (call: Call, { repo, tag }: { repo: string; tag: string }): Promise<void> => {
    const origins = call.tx.selectFrom("upstream_repos").select("repo").where("repo", "=", repo);
    if ((await origins.executeTakeFirst()) !== undefined) await noteCheck(call, repo, tag);
  },
  AGAIN,
);

/** Notes that tags were compared with the registry's, unless the repo no longer belongs to the upstream. */
export const noteTagChecks = command(
  "upstreams.noteTagChecks",
  async (call: Call, { repo, upstream, tags }: { repo: string; upstream: string; tags: string[] }): Promise<void> => {
    if (!(await isOrigin(call.tx, repo, upstream))) return;
    for (const tag of tags) await noteCheck(call, repo, tag);
  },
  AGAIN,
);

// A turn each minute need not write the times of all tags.
const CHECKED_MS = 600_000;

/** Notes that the registry, a Moorage, says that no tag of these repos of the upstream has moved. */
export const noteUnchanged = command(
  "upstreams.noteUnchanged",
  async ({ tx, nowMs }: Call, { upstream, repos }: { upstream: string; repos: string[] }): Promise<void> => {
    if (repos.length === 0) return;
    await tx
      .updateTable("upstream_tags")
      .set({ check_time: nowMs })
      .where(
        "repo",
        "in",
        tx.selectFrom("upstream_repos").select("repo").where("upstream", "=", upstream).where("repo", "in", repos),
      )
      .where("check_time", "<", nowMs - CHECKED_MS)
      .execute();
  },
  AGAIN,
);

/** The commands of upstreams. */
export const upstreamCommands = [
  noteSighting,
  noteUpstream,
  noteTagCheck,
  noteTagChecks,
  noteUnchanged,
  noteCenterPulls,
  ...followCommands,
] as const;
