import { eventually } from "../../../server/test/support/eventually.ts";
import type { Platform } from "../../../server/test/support/platform.ts";

const ACCEPT = "application/vnd.oci.image.index.v1+json, application/vnd.oci.image.manifest.v1+json";

/** A machine that pulls images in which the vulnerability is open, until it is known who pulled them. */
export async function fillPulls(platform: Platform, vulnerability: string): Promise<void> {
  const { organization } = platform;
  const { uid } = await platform.ok("POST", `/iam/v2/identities/${organization}`, { name: "deploy-eu-west" });
  await platform.bind(organization, uid, await platform.role("registry.pull"));
  const token = await platform.token(uid, { audience: new URL(platform.url).host });
  const pull = async (repo: string, reference: string): Promise<string> => {
    const path = `/v2/${repo}/manifests/${reference}`;
    const { status, text } = await platform.call("GET", path, { token, headers: { accept: ACCEPT } });
    if (status !== 200) throw new Error(`GET ${path}: ${status} ${text}`);
    return text;
  };
  await pull("acme/worker", "3.1.0");
  const index = JSON.parse(await pull("acme/web", "1.1.0")) as { manifests: { digest: string }[] };
  await pull("acme/web", index.manifests[0]?.digest ?? "");
  await eventually(async () => {
    const path = `/vulnerabilities/v2/exposures?vulnerability=${vulnerability}`;
    const { exposures } = await platform.ok<{ exposures: { identity: string; image: string }[] }>("GET", path);
    return new Set(exposures.filter(({ identity }) => identity === uid).map(({ image }) => image)).size === 2;
  });
}
