import { create, fromJsonString, toJsonString } from "@bufbuild/protobuf";
import { DurationSchema } from "@bufbuild/protobuf/wkt";
import {
  type RegistryUpstream,
  RegistryUpstreamSchema,
  TagPolicySchema,
  TagRetentionRuleSchema,
} from "@moorage/api/messages";
import type { Call } from "@moorage/kernel/core/call";
import { type Database, type Row, select } from "@moorage/kernel/store";
import { coversSince, pullCoverage, replacePolicies } from "../registry/index.ts";
import { durationMs, durationOf } from "./durations.ts";

/** What an upstream says of the repos that come from it, in its stored form. */
type Policies = Pick<Row<"registry_upstreams">, "tag_policy" | "keep_unpulled">;

const DAY_S = 86_400n;

/**
 * The tag policy of repos that come from an upstream, in its stored form; null for none. What nobody pulls for
 * `keep_unpulled` goes by a last rule of retention. What only the history of tags names goes a day later, unless the
 * policy says how long history is kept.
 */
export function repoPolicy({ tag_policy: own, keep_unpulled: keepUnpulled }: Policies): string | null {
  if (keepUnpulled === null) return own;
  const policy = own === null ? create(TagPolicySchema) : fromJsonString(TagPolicySchema, own);
  const keepPulledFor = durationOf(keepUnpulled);
  policy.retention.push(create(TagRetentionRuleSchema, { keepPulledFor }));
  policy.historyRetention ??= create(DurationSchema, { seconds: DAY_S });
  return toJsonString(TagPolicySchema, policy);
}

/** Gives the repos of an upstream another policy, those that have the one that it gave them. */
export async function updateRepoPolicies(
  call: Call,
  upstream: string,
  before: string | null,
  after: string | null,
): Promise<void> {
  if (before === after) return;
  const rows = await select<{ repo: string }>(call.tx, "select repo from upstream_repos where upstream = ?", [
    upstream,
  ]);
  await replacePolicies(
    call,
    rows.map(({ repo }) => repo),
    before,
    after,
  );
}

const CHUNK = 200;

/**
 * Since when what was pulled from these repos is kept, by their uids, in milliseconds since 1970: only of repos that
 * come from an upstream which keeps what is pulled. 0 where everything is kept, since not all pulls are known.
 */
export async function pulledCuts(db: Database, repos: readonly string[], nowMs: number): Promise<Map<string, number>> {
  const found: { repo: string; keep_unpulled: string }[] = [];
  for (let at = 0; at < repos.length; at += CHUNK) {
    const some = repos.slice(at, at + CHUNK);
    const marks = some.map(() => "?").join(", ");
    found.push(
      ...(await select<{ repo: string; keep_unpulled: string }>(
        db,
        `select o.repo, u.keep_unpulled from upstream_repos as o join registry_upstreams as u on u.uid = o.upstream
         where o.repo in (${marks}) and u.keep_unpulled is not null`,
        some,
      )),
    );
  }
  if (found.length === 0) return new Map();
  const coverage = await pullCoverage(db);
  return new Map(
    found.map(({ repo, keep_unpulled: text }) => {
      const cutMs = nowMs - durationMs(text, 0);
      return [repo, coversSince(coverage, cutMs) ? cutMs : 0];
    }),
  );
}

/** Whether an update changes what becomes of the repos' images. */
export function changesPolicy(before: RegistryUpstream | undefined, after: RegistryUpstream): boolean {
  const textOf = ({
    tagPolicy,
    keepUnpulled,
    maxBytes,
  }: Pick<RegistryUpstream, "tagPolicy" | "keepUnpulled" | "maxBytes">): string =>
    JSON.stringify([
      tagPolicy === undefined ? "" : toJsonString(TagPolicySchema, tagPolicy),
      keepUnpulled === undefined ? "" : String(keepUnpulled.seconds),
      String(maxBytes),
    ]);
  return textOf(before ?? create(RegistryUpstreamSchema)) !== textOf(after);
}
