// Quotas of Quay's organizations, the registries that they cache, and the mirrors of their repositories.
// Source: Quay's endpoints/api/namespacequota.py, endpoints/api/organization.py and endpoints/api/mirror.py.
import { isList, isObject } from "@moorage/kernel/lib/json";
import type { SourceClient } from "./client.ts";
import type { SourcePolicy } from "./model.ts";
import { isOfOne, SourceError } from "./source-error.ts";

type Fields = Record<string, unknown>;

const API = "/api/v1";
const MAX_TEXT = 255;
const HOST = /^[a-z0-9[][a-z0-9.:\]-]*$/;
const PREFIX = /^[a-z0-9/._-]*$/;

/** What these organizations and repositories have of settings. */
export async function* quaySettings(
  client: SourceClient,
  namespaces: readonly string[],
  repos: readonly string[],
): AsyncGenerator<SourcePolicy> {
  for (const name of namespaces) {
    const path = `${API}/organization/${encodeURIComponent(name)}`;
    yield* read(quotaOf(client, path, name), { kind: "quota", source: `${name}: quota`, below: name });
    yield* read(cacheOf(client, path, name), { kind: "registry-upstream", source: `${name}: cache`, below: name });
  }
  for (const repo of repos) {
    const path = `${API}/repository/${repo.split("/").map(encodeURIComponent).join("/")}`;
    yield* read(mirrorOf(client, path, repo), { kind: "setting", source: `${repo}: mirror`, below: repo });
  }
}

/** What cannot be read ends nothing else. */
async function* read(found: AsyncGenerator<SourcePolicy>, base: SourcePolicy): AsyncGenerator<SourcePolicy> {
  try {
    yield* found;
  } catch (error) {
    if (!isOfOne(error)) throw error;
    yield { ...base, fault: error.message };
  }
}

async function* quotaOf(client: SourceClient, path: string, name: string): AsyncGenerator<SourcePolicy> {
  // Without that feature the source has no such list, and no quotas.
  const body = (await client.json(`${path}/quota`)) ?? [];
  if (!isList(body)) throw new SourceError("the source has no list of its quotas");
  const base = { kind: "quota", source: `${name}: quota`, below: name } as const;
  const [quota, second] = body;
  if (quota === undefined) return;
  if (second !== undefined) return yield { ...base, fault: "has more than one" };
  const { limit_bytes: limit, limits } = isObject(quota) ? quota : {};
  const listed = isList(limits) ? limits.map((each): Fields => (isObject(each) ? each : {})) : undefined;
  if (typeof limit !== "number" || !Number.isSafeInteger(limit) || limit <= 0 || listed === undefined)
    return yield { ...base, fault: "cannot be read" };
  const percents = listed.filter(({ type }) => type === "Reject").map((each) => each["limit_percent"]);
  if (percents.length === 0) return yield { ...base, fault: "only warns there, and rejects nothing" };
  if (!percents.every((each): each is number => typeof each === "number" && each > 0 && each <= 100))
    return yield { ...base, fault: "cannot be read" };
  const bytes = Math.floor((limit / 100) * Math.min(...percents));
  if (bytes === 0) return yield { ...base, fault: "is less than a byte" };
  const isWarning = listed.some(({ type }) => type === "Warning");
  yield { ...base, bytes, ...(isWarning && { notes: ["here it warns from 80 percent on"] }) };
}

async function* cacheOf(client: SourceClient, path: string, name: string): AsyncGenerator<SourcePolicy> {
  const body = (await client.json(`${path}/proxycache`)) ?? {};
  const base = { kind: "registry-upstream", source: `${name}: cache`, below: name } as const;
  const { upstream_registry: upstream = "", insecure } = isObject(body) ? body : { upstream_registry: null };
  if (upstream === "") return;
  const text = typeof upstream === "string" && upstream.length <= MAX_TEXT ? upstream : "";
  const [host = "", ...parts] = text.split("/");
  const prefix = parts.join("/");
  if (!HOST.test(host) || !PREFIX.test(prefix))
    return yield { ...base, fault: "has an address that cannot be one here" };
  const registry = insecure === true ? `http://${host}` : host;
  // Quay does not say whether it has a user name and a password for it.
  const notes = ["disabled: whether it needs a password is not said there, and none comes"];
  yield { ...base, source: `${base.source} of ${host}`, settings: { registry, prefix, disabled: true }, notes };
}

/** Whether an organization is for what comes from another registry, as far as that can be read. */
export async function cachesRegistry(client: SourceClient, name: string): Promise<boolean> {
  try {
    const body = await client.json(`${API}/organization/${encodeURIComponent(name)}/proxycache`);
    return isObject(body) && typeof body["upstream_registry"] === "string" && body["upstream_registry"] !== "";
  } catch (error) {
    if (!isOfOne(error)) throw error;
    return false;
  }
}

async function* mirrorOf(client: SourceClient, path: string, repo: string): AsyncGenerator<SourcePolicy> {
  const body = await client.json(`${path}/mirror`);
  if (body === undefined) return;
  const { external_reference: from, sync_interval: seconds, root_rule: rule, is_enabled } = isObject(body) ? body : {};
  const { rule_value: globs } = isObject(rule) ? rule : {};
  const tags = isList(globs) ? globs.filter((each) => typeof each === "string").join(", ") : "?";
  const every = typeof seconds === "number" ? `each ${seconds} seconds` : "";
  yield {
    kind: "setting",
    source: `${repo}: mirror`,
    below: repo,
    fault: [
      `${is_enabled === false ? "disabled there; " : ""}copies ${textOf(from)}, tags ${textOf(tags)} ${every}`.trimEnd(),
      "a repo has one source, which is Quay until --finish: then give it this one",
    ].join("; "),
  };
}

function textOf(value: unknown): string {
  return typeof value === "string" && value !== "" ? value.slice(0, MAX_TEXT).toWellFormed() : "?";
}
