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
