import type { Json, Platform } from "./platform.ts";

export const ADVISORIES = "/vulnerabilities/v2/advisories";
export const ADVISORY_EVENTS = "/vulnerabilities/v2/advisoryEvents";

export interface EventJson {
  uid: string;
  createTime: string;
  reviewState: string;
  author: string;
  reviewer: string;
  findings: string;
  reviewTime?: string;
  [type: string]: unknown;
}
export interface AdvisoryJson extends Json {
  advisoryId: string;
  aliases: string[];
  events: EventJson[];
}

let count = 0;
/** A new advisory of an artifact of its own. */
export async function newAdvisory(platform: Platform, group: string, fields: object = {}): Promise<AdvisoryJson> {
  count += 1;
  const body = { artifactName: `artifact-${count}`, aliases: [`CVE-2026-${count}`], ...fields };
  return (await platform.ok("POST", `${ADVISORIES}/${group}`, body)) as AdvisoryJson;
}

/** A new role with these capabilities, held on the group by a new identity: its token and its uid. */
export async function holderOf(
  platform: Platform,
  group: string,
  capabilities: readonly string[],
): Promise<{ uid: string; token: string }> {
  count += 1;
  const role = await platform.ok("POST", `/iam/v2/roles/${group}`, { name: `holder ${count}`, capabilities });
  const uid = await platform.identity(platform.organization);
  await platform.bind(group, uid, role.uid);
  return { uid, token: await platform.token(uid) };
}

/** The advisories that a list answers, by their artifacts' names. */
export async function listed(platform: Platform, query: string, token?: string): Promise<string[]> {
  const answer = await platform.call("GET", `${ADVISORIES}?${query}`, { token: token ?? (await platform.token()) });
  if (answer.status !== 200) throw new Error(answer.text);
  return (answer.body["advisories"] as { artifactName: string }[]).map(({ artifactName }) => artifactName);
}
