// Robots of a plan become pull and push tokens with new passwords: the old ones never come.
import { objectsIn, textIn } from "../api/json-fields.ts";
import { parentOf } from "../api/name-kinds.ts";
import type { JsonObject, RestClient } from "../api/rest.ts";
import { makePassword } from "../password-key.ts";
import { registryHost } from "../registry-host.ts";
import { type Applying, forItem } from "./apply-context.ts";
import type { Here } from "./here.ts";
import type { PlanItem } from "./plan.ts";
import type { SecretsFile } from "./secrets-file.ts";

const DAY_MS = 86_400_000;
const TOKENS = {
  "registry.pull": { issuer: "moorage-pull-token", noun: "pull token", maxDays: 366 },
  "registry.push": { issuer: "moorage-push-token", noun: "push token", maxDays: 90 },
} as const;

/** Makes the tokens that are not there. Without a file for their passwords they are left, and the results say so. */
export async function applyRobots(applying: Applying, secrets: SecretsFile | undefined): Promise<void> {
  const { plan, rest, results } = applying;
  const registry = secrets === undefined ? "" : await registryHost(rest.url);
  for (const item of plan.items) {
    if (item.kind !== "robot" || item.action === "cannot") continue;
    if (secrets === undefined) results.add(item, "left", "comes with --secrets");
    else await forItem(results, item, () => applyRobot(applying, item, { secrets, registry }));
  }
}

async function applyRobot(
  { rest, here, results }: Applying,
  item: PlanItem,
  { secrets, registry }: { secrets: SecretsFile; registry: string },
): Promise<void> {
  const place = placeOf(here, item);
  if (place === undefined)
    return results.add(item, "failed", `its ${item.isImage === true ? "image" : "group"} is not there`);
  const { repo, group } = place;
  const name = nameOf(item);
  if (await isRobotHere(rest, here, item)) return results.add(item, "same");
  const role = item.role === "registry.push" ? item.role : "registry.pull";
  const { issuer, noun, maxDays } = TOKENS[role];
  const nowMs = Date.now();
  const wantedMs = item.endTime === undefined ? Infinity : Date.parse(item.endTime);
  const endMs = Math.floor(Math.min(wantedMs, nowMs + maxDays * DAY_MS) / 1000) * 1000;
  const made = makePassword({ issuer, audience: registry, nowMs, endMs, ...(repo && { scopes: [repo] }) });
  const expirationTime = new Date(endMs).toISOString();
  // The password is on the disk before it holds: a command that is killed in between loses none.
  await secrets.add({ robot: item.source, name, registry, password: made.token, expirationTime, made: false });
  const staticKeys = {
    issuer,
    subject: made.subject,
    issuerKeys: made.issuerKeys,
    expirationTime,
    audiences: [registry],
  };
  const description =
    repo === undefined ? `${noun} for ${item.source}, of another registry` : `${noun} for ${item.target} alone`;
  const body = { name, description, staticKeys };
  const identity = textIn(await rest.call("POST", `/iam/v2/identities/${group}`, { body }), "uid");
  await bind(rest, { group, identity, role });
  await secrets.add({
    robot: item.source,
    name,
    registry,
    username: identity,
    password: made.token,
    expirationTime,
    made: true,
  });
  results.add(item, "done", `until ${expirationTime}`);
}

/** Whether a robot has its token here: an identity of its name, where it would be made. */
export async function isRobotHere(rest: RestClient, here: Here, item: PlanItem): Promise<boolean> {
  const place = placeOf(here, item);
  if (place === undefined) return false;
  const query = { name: nameOf(item), "uidp.children_of": place.group, page_size: 1 };
  return objectsIn(await rest.call("GET", "/iam/v2/identities", { query }), "identities").length > 0;
}

/** The group of a robot's identity, and its image, if it is for one; undefined when that is not here. */
function placeOf(here: Here, { isImage, target }: PlanItem): { group: string; repo?: string } | undefined {
  const uid = (isImage === true ? here.repos.get(target)?.uid : here.groups.get(target)) ?? "";
  if (uid === "") return undefined;
  return isImage === true ? { group: parentOf(uid), repo: uid } : { group: uid };
}

function nameOf({ source }: PlanItem): string {
  return source
    .replace(/^robot\$/, "")
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]/g, "-");
}

/** Gives the identity its role; without it the identity is removed. */
async function bind(
  rest: RestClient,
  { group, identity, role }: { group: string; identity: string; role: string },
): Promise<void> {
  try {
    const query = { name: role, "uidp.in_root": true, page_size: 1 };
    const [found] = objectsIn(await rest.call("GET", "/iam/v2/roles", { query }), "roles");
    const body: JsonObject = { identityUid: identity, roleUid: textIn(found, "uid") };
    await rest.call("POST", `/iam/v2/roleBindings/${group}`, { body });
  } catch (error) {
    await rest.call("DELETE", `/iam/v2/identities/${identity}`).catch(() => {});
    throw error;
  }
}
