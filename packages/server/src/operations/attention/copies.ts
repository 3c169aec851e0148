import {
  RegistryUpstreamsService,
  ReplicationItemState,
  ReplicationsService,
  ReposService,
  type UIDPFilter,
  UpstreamsService,
} from "@moorage/api/messages";
import { sql } from "kysely";
import { neededFor } from "@moorage/kernel/aip/access";
import { within } from "@moorage/kernel/aip/scope";
import type { Call } from "@moorage/kernel/core/call";
import { imagePaths } from "@moorage/registry/registry";
import { countOf, detailOf, type Looked, MAX_COUNTED, NAMED, rootsFor, type Subject, timeOf } from "./look.ts";

// What comes from other registries, and goes to them.

const MIRRORS = neededFor(ReposService.method.listRepos);
const REGISTRY_UPSTREAMS = neededFor(RegistryUpstreamsService.method.listRegistryUpstreams);
const LIBRARY_UPSTREAMS = neededFor(UpstreamsService.method.listUpstreams);
const REPLICATIONS = neededFor(ReplicationsService.method.listReplications);

/** Mirrors whose last turn failed, whatever they do now; those that failed most often first. */
export async function lookAtMirrors(call: Call, uidp: UIDPFilter | undefined): Promise<Looked> {
  const { roots, lacking } = await rootsFor(call, uidp, MIRRORS);
  if (lacking !== undefined) return lacking;
  const { rows } = await sql<{ repo: string; message: string; success_time: number | null; failures: number }>`
    select t.repo, t.message, t.success_time, t.failures from mirrors as t
    where t.failures > 0 and ${within(roots, sql`t.repo`)} limit ${MAX_COUNTED + 1}`.execute(call.tx);
  const first = rows.toSorted((a, b) => b.failures - a.failures || (a.repo < b.repo ? -1 : 1)).slice(0, NAMED);
  const paths = await imagePaths(call.tx).ofUids(first.map(({ repo }) => repo));
  return {
    ...countOf(rows),
    subjects: first.map(({ repo, message, success_time: successMs }) => ({
      uid: repo,
      name: paths.get(repo) ?? "",
      detail: detailOf(message),
      count: 1n,
      ...timeOf(successMs),
    })),
  };
}

/** Registries that groups stand for. One that answered as it should since its last error is well. */
export async function lookAtRegistryUpstreams(call: Call, uidp: UIDPFilter | undefined): Promise<Looked> {
  const { roots, lacking } = await rootsFor(call, uidp, REGISTRY_UPSTREAMS);
  if (lacking !== undefined) return lacking;
  const { rows } = await sql<FailedUpstream>`
    select t.uid, t.registry as name, t.last_error, t.last_error_time from registry_upstreams as t
    where t.last_error <> '' and t.disabled = 0 and (t.last_success_time is null or t.last_error_time is null or t.last_success_time <= t.last_error_time)
      and ${within(roots)} limit ${MAX_COUNTED + 1}`.execute(call.tx);
  return upstreamsOf(rows);
}

/** Upstream registries for packages; a success takes their error away. */
export async function lookAtLibraryUpstreams(call: Call, uidp: UIDPFilter | undefined): Promise<Looked> {
  const { roots, lacking } = await rootsFor(call, uidp, LIBRARY_UPSTREAMS);
  if (lacking !== undefined) return lacking;
  const { rows } = await sql<FailedUpstream>`
    select t.uid, t.url as name, t.last_error, t.last_error_time from upstreams as t
    where t.last_error <> '' and t.disabled = 0 and ${within(roots)} limit ${MAX_COUNTED + 1}`.execute(call.tx);
  return upstreamsOf(rows);
}

interface FailedUpstream {
  uid: string;
  name: string;
  last_error: string;
  last_error_time: number | null;
}

function upstreamsOf(rows: readonly FailedUpstream[]): Looked {
  const newest = rows.toSorted((a, b) => Number(b.last_error_time ?? 0) - Number(a.last_error_time ?? 0));
  return {
    ...countOf(rows),
    subjects: newest.slice(0, NAMED).map(({ uid, name, last_error: error, last_error_time: errorMs }) => ({
      uid,
      name,
      detail: detailOf(error),
      count: 1n,
      ...timeOf(errorMs),
    })),
  };
}

/** Replications with something wrong, or with tags that were attempted too often. */
export async function lookAtReplications(call: Call, uidp: UIDPFilter | undefined): Promise<Looked> {
  const { roots, lacking } = await rootsFor(call, uidp, REPLICATIONS);
  if (lacking !== undefined) return lacking;
  const failed = sql`select 1 from replication_items as i
    where i.replication = t.uid and i.state = ${sql.lit(ReplicationItemState.FAILED)}`;
  const { rows } = await sql<{ uid: string; name: string; problem: string }>`
    select t.uid, t.name, t.problem from replications as t
    where t.disabled = 0 and ${within(roots)} and (t.problem <> '' or exists (${failed}))
    order by t.uid limit ${MAX_COUNTED + 1}`.execute(call.tx);
  const subjects: Subject[] = [];
  for (const { uid, name, problem } of rows.slice(0, NAMED)) {
    const reason = problem === "" ? await newestFailure(call, uid) : { text: problem, timeMs: null };
    subjects.push({ uid, name, detail: detailOf(reason.text), count: 1n, ...timeOf(reason.timeMs) });
  }
  return { ...countOf(rows), subjects };
}

async function newestFailure({ tx }: Call, replication: string): Promise<{ text: string; timeMs: number | null }> {
  const item = await tx
    .selectFrom("replication_items")
    .select(["repository", "tag", "reason", "attempt_time"])
    .where("replication", "=", replication)
    .where("state", "=", ReplicationItemState.FAILED)
    .orderBy("attempt_time", "desc")
    .limit(1)
    .executeTakeFirst();
  if (item === undefined) return { text: "", timeMs: null };
  return { text: `${item.repository}:${item.tag}: ${item.reason}`, timeMs: item.attempt_time };
}
