import { pomText, putMaven } from "../../../server/test/support/maven.ts";
import { publishNpm } from "../../../server/test/support/npm.ts";
import type { Platform } from "../../../server/test/support/platform.ts";
import { uploadPypi, wheelOf } from "../../../server/test/support/pypi.ts";

const FORMS = ["4.6.0", "4.7.1", "4.7.2", "4.7.3", "4.8.0", "4.8.1"];
const NPM = { ecosystem: "ECOSYSTEM_JAVASCRIPT" };

/** Packages of every registry in the organization, an upstream that does not answer, and two policies. */
export async function fillPackages(platform: Platform): Promise<void> {
  const { organization } = platform;
  for (const version of FORMS)
    await publishNpm(platform, "acme", "@acme/forms", version, {
      manifest: { description: "Accessible form fields and their validation, for React.", license: "MIT" },
    });
  await publishNpm(platform, "acme", "left-pad", "1.2.0", { manifest: { description: "Pads on the left" } });
  const wheel = { name: "acme-ledger", version: "2.4.0", summary: "Double-entry books for services" };
  await uploadPypi(platform, "acme", { ...wheel, ...wheelOf(wheel) });
  const jar = "com/acme/checkout/1.9.2/checkout-1.9.2";
  await putMaven(platform, "acme", `${jar}.jar`, "a jar");
  await putMaven(platform, "acme", `${jar}.pom`, pomText("com.acme", "checkout", "1.9.2", "The checkout's client"));
  await putMaven(platform, "acme", "com/acme/checkout/maven-metadata.xml", "<metadata/>");
  await platform.ok("POST", `/libraries/v2/upstreams/${organization}`, {
    ...NPM,
    url: "http://127.0.0.1:9/",
    description: "The public registry of npm",
    reservedNames: ["@acme/*"],
  });
  await platform.ok("POST", `/libraries/v2/artifactPolicies/${organization}`, {
    ...NPM,
    mode: "POLICY_MODE_ENFORCE",
    cooldown: "604800s",
    blockMalware: true,
    blockedPurls: ["pkg:npm/left-pad@1.2.0"],
    deniedLicenses: ["AGPL-3.0-only"],
  });
  await platform.ok("POST", `/libraries/v2/artifactPolicies/${organization}`, {
    ecosystem: "ECOSYSTEM_PYTHON",
    mode: "POLICY_MODE_PREVIEW",
  });
  // What the policy blocks is written down when somebody asks for it.
  const token = await platform.token();
  await platform.call("GET", "/npm/acme/left-pad/-/left-pad-1.2.0.tgz", { token });
}
