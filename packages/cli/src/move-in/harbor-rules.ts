// What Harbor's projects have of rules and settings, each list read apart: what cannot be read ends no other.
// Source: Harbor's api/v2.0/swagger.yaml.
import { isList, isObject } from "@moorage/kernel/lib/json";
import type { SourceClient } from "./client.ts";
import { API, type Fields, listOf, type Project, timeIn } from "./harbor-api.ts";
import { allowlistIn, type Allowlist, gatePolicies, prevents, usesSystemAllowlist } from "./harbor-gate.ts";
import { expressionsOf, immutablePolicies, quotaPolicy } from "./harbor-policies.ts";
import { upstreamPolicy } from "./harbor-registries.ts";
import { replicationPolicies } from "./harbor-replications.ts";
import { retentionPolicies } from "./harbor-retention.ts";
import { projectSettings, type PullTimes, webhookPolicy } from "./harbor-settings.ts";
import type { SourcePolicy } from "./model.ts";
import { isOfOne, SourceError } from "./source-error.ts";

/** What was seen of images when their tags were listed. */
interface TagNotes {
  note(repo: string, artifact: Fields): void;
  /** Whether an image of the repository has more than one tag. */
  isShared(repo: string): boolean;
  pullsOf(project: string): PullTimes | undefined;
}

/** What rules are read with. */
interface RulesReading {
  projectOf(name: string): Promise<Project>;
  seen: TagNotes;
  nowMs: number;
}

export function openTagNotes(): TagNotes {
  const shared = new Set<string>();
  const pulls = new Map<string, PullTimes>();
  return {
    note(repo, artifact) {
      if (isList(artifact["tags"]) && artifact["tags"].length > 1) shared.add(repo);
      const project = repo.slice(0, repo.indexOf("/"));
      const { images, pulled } = pulls.get(project) ?? { images: 0, pulled: 0 };
      const isPulled = timeIn(artifact, "pull_time") !== undefined;
      pulls.set(project, { images: images + 1, pulled: pulled + (isPulled ? 1 : 0) });
    },
    isShared: (repo) => shared.has(repo),
    pullsOf: (project) => pulls.get(project),
  };
}

/** What a project has; `faultOf`: what stands for it where that cannot be read, which ends nothing else. */
export async function* ofEach<T>(
  projects: readonly string[],
  read: (project: string) => AsyncGenerator<T>,
  faultOf: (project: string, why: string) => T,
): AsyncGenerator<T> {
  for (const project of projects) {
    try {
      yield* read(project);
    } catch (error) {
      if (!isOfOne(error)) throw error;
      yield faultOf(project, error.message);
    }
  }
}

/** The rules of these projects, for these repositories. */
export async function* harborRules(
  client: SourceClient,
  { projectOf, seen, nowMs }: RulesReading,
  projects: readonly string[],
  repos: readonly string[],
): AsyncGenerator<SourcePolicy> {
  const reposBelow = (project: string): string[] => repos.filter((repo) => repo.startsWith(`${project}/`));
  const each = (
    kind: SourcePolicy["kind"],
    what: string,
    read: (project: Project) => AsyncGenerator<SourcePolicy>,
  ): AsyncGenerator<SourcePolicy> =>
    ofEach(
      projects,
      async function* (name) {
        yield* read(await projectOf(name));
      },
      (name, fault) => ({ kind, source: `${name}: ${what}`, below: name, fault }),
    );
  const immutable = new Map<string, ReadonlyMap<string, readonly string[]> | undefined>();
  yield* each("policy", "immutable tags", async function* ({ name, id }) {
    const found: SourcePolicy[] = [];
    for await (const rule of listOf(client, `${API}/projects/${id}/immutabletagrules`, "id"))
      found.push(...immutablePolicies(name, rule, reposBelow(name)));
    immutable.set(name, expressionsOf(found));
    yield* found;
  });
  yield* each("retention", "retention", async function* ({ name, retention }) {
    if (retention === "") return;
    if (!/^\d{1,18}$/.test(retention)) throw new SourceError("the source names no rules of retention that could be");
    const policy = await client.json(`${API}/retentions/${retention}`);
    if (!isObject(policy)) throw new SourceError("the source has no rules of retention where it says so");
    const of = { name, repos: reposBelow(name), immutable: immutable.get(name) };
    yield* retentionPolicies({ ...of, hasSharedImages: (repo) => seen.isShared(repo) }, policy);
  });
  const systemAllowlist = once(async () => allowlistIn(await client.json(`${API}/system/CVEAllowlist`)));
  yield* each("gate", "prevention of vulnerable images", async function* (project) {
    if (!prevents(project)) return;
    const allowlist = usesSystemAllowlist(project) ? await systemAllowlist() : allowlistIn(project.allowlist);
    yield* gatePolicies(project, reposBelow(project.name), allowlist, nowMs);
  });
  yield* each("quota", "storage quota", async function* ({ name, id }) {
    const quotas: Fields[] = [];
    for await (const quota of listOf(client, `${API}/quotas`, "id", `reference=project&reference_id=${id}&`))
      quotas.push(quota);
    yield* quotaPolicy(name, id, quotas);
  });
  yield* each("registry-upstream", "cache", async function* (project) {
    if (project.registry === undefined) return;
    const registry = await client.json(`${API}/registries/${project.registry}`);
    if (!isObject(registry)) throw new SourceError("the source does not have the registry that it caches");
    yield* upstreamPolicy(project, registry);
  });
  yield* replicationsOf(client, projects);
  yield* each("webhook", "webhooks", async function* ({ name, id }) {
    for await (const hook of listOf(client, `${API}/projects/${id}/webhook/policies`, "id"))
      yield webhookPolicy(name, hook);
  });
  yield* each("setting", "settings", async function* (project) {
    yield* projectSettings(project, seen.pullsOf(project.name));
  });
}

async function* replicationsOf(client: SourceClient, projects: readonly string[]): AsyncGenerator<SourcePolicy> {
  const known = new Set<string>();
  try {
    for await (const rule of listOf(client, `${API}/replication/policies`, "id"))
      for (const item of replicationPolicies(rule, projects)) {
        const place = `${item.below} ${String(item.settings?.["name"])}`;
        const isTwice = item.settings !== undefined && known.has(place);
        known.add(place);
        yield isTwice ? { ...item, fault: "another replication has its name here" } : item;
      }
  } catch (error) {
    if (!isOfOne(error)) throw error;
    yield { kind: "replication", source: "replications", below: "", fault: error.message };
  }
}

/** Reads it the first time. What cannot be read by the caller's rights lets unknown vulnerabilities pass. */
function once(read: () => Promise<Allowlist>): () => Promise<Allowlist> {
  let asked: Promise<Allowlist> | undefined;
  const unread = (error: unknown): Allowlist => {
    if (!isOfOne(error)) throw error;
    return { ids: undefined, endMs: undefined };
  };
  return () => (asked ??= read().catch(unread));
}
