import { eventually } from "../../../server/test/support/eventually.ts";
import { openSigstore } from "../../../server/test/support/keyless-signing.ts";
import type { Platform } from "../../../server/test/support/platform.ts";
import { openTufRepository } from "../../../server/test/support/tuf-repository.ts";

const NOBODY = "http://127.0.0.1:9";
const VALID = { start: "2026-01-01T00:00:00Z", end: "2027-01-01T00:00:00Z" };

/** A trust root that was pasted, and one of a mirror that has nothing. */
export async function fillTrustRoots(platform: Platform): Promise<void> {
  const path = `/registry/v2/trustRoots/${platform.organization}`;
  const { root } = await openSigstore();
  const [authority] = (JSON.parse(root) as { certificateAuthorities: object[] }).certificateAuthorities;
  const subject = { organization: "acme", commonName: "acme signing" };
  const pasted = { certificateAuthorities: [{ ...authority, subject, validFor: VALID }] };
  await platform.ok("POST", path, { name: "acme", trustedRoot: JSON.stringify(pasted) });
  const mirror = await openTufRepository();
  const tuf = { url: mirror.url, root: mirror.publishRoot() };
  const { uid } = await platform.ok("POST", path, { name: "public", tuf });
  await eventually(async () => {
    const { message } = await platform.ok<{ message: string }>("GET", `/registry/v2/trustRoots/${uid}`);
    return message !== "it was not fetched from the mirror yet";
  });
  await mirror.close();
}

/** A replication that was stopped, one that nothing matches, and one that is paused. */
export async function fillReplications(platform: Platform): Promise<void> {
  const path = "/registry/v2/replications";
  const made = (fields: object): Promise<{ uid: string }> =>
    platform.ok("POST", `${path}/${platform.organization}`, fields);
  const saysWhy = (uid: string): Promise<unknown> =>
    eventually(async () => {
      const { state } = await platform.ok<{ state: { lastError: string } }>("GET", `${path}/${uid}`);
      return state.lastError;
    });
  const archive = await made({
    name: "archive",
    destination: `${NOBODY}/archive`,
    repoPattern: "web",
    tagPattern: String.raw`1\.2\.0`,
    onPush: true,
  });
  await saysWhy(archive.uid);
  await platform.ok("POST", `${path}/${archive.uid}:stop`, {});
  const nightly = await made({
    name: "nightly",
    destination: "registry.example.com/nightly",
    tagPattern: "nightly-.*",
    onPush: true,
  });
  await saysWhy(nightly.uid);
  await made({ name: "partners", destination: "partners.example.com/acme", onPush: true, disabled: true });
}

/** A registry that answers and states its limit, and one that is followed, with something missing. Answers that one. */
export async function fillUpstreams(platform: Platform): Promise<string> {
  const { groups } = await platform.ok<{ groups: { uid: string; name: string }[] }>("GET", "/iam/v2/groups");
  const made = async (group: string, fields: object): Promise<string> => {
    const parent = groups.find(({ name }) => name === group)?.uid ?? "";
    // It is on only when the next turn is far away: nothing outside is asked here.
    const upstream = await platform.ok("POST", `/registry/v2/upstreams/${parent}`, { ...fields, disabled: true });
    return upstream.uid;
  };
  const hub = await made("payments", {
    registry: "docker.io",
    allowed: ["library/*", "bitnami/*"],
    cooldown: "259200s",
  });
  const center = await made("data", {
    registry: "registry.example.com",
    prefix: "acme",
    description: "What the plants run",
    follow: { repoPattern: "acme/plant/.*", tagPattern: "v[0-9.]+", interval: "600s" },
  });
  const nowMs = platform.clock.nowMs();
  const ago = (minutes: number): number => nowMs - minutes * 60_000;
  const at = (minutes: number): string => new Date(ago(minutes)).toISOString();
  const on = { disabled: 0, last_error: "" };
  await platform.transact(async (tx) => {
    const rate = { limit: 100, remaining: 76, resetTime: at(-95) };
    const hubState = { ...on, last_success_time: ago(4), rate: JSON.stringify(rate) };
    await tx.updateTable("registry_upstreams").set(hubState).where("uid", "=", hub).execute();
    await tx.updateTable("upstream_follows").set({ next_time: Number.MAX_SAFE_INTEGER }).execute();
    const state = {
      state: "SYNC_STATE_FAILED",
      message: "1 of 12 repositories did not come: acme/plant/press: 500",
      lastAttemptTime: at(6),
      lastSuccessTime: at(190),
      nextTime: at(-180),
      consecutiveFailures: 2,
      repositories: "12",
      missingRepositories: "1",
      tags: "86",
      missingTags: "7",
    };
    const centerState = { ...on, last_success_time: ago(6), follow_state: JSON.stringify(state) };
    await tx.updateTable("registry_upstreams").set(centerState).where("uid", "=", center).execute();
  });
  return center;
}
