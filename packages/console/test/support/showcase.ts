import { newAdvisory } from "../../../server/test/support/advisories.ts";
import { tarOf } from "../../../server/test/support/catalog/archives.ts";
import { npmFile } from "../../../server/test/support/catalog/catalog.ts";
import { pushArtifact, pushIndex, pushLayers } from "../../../server/test/support/catalog/push.ts";
import { eventually } from "../../../server/test/support/eventually.ts";
import { osvOf, plainRecord, putRecords } from "../../../server/test/support/feed-records.ts";
import { before as affectedBefore } from "../../../server/test/support/matching.ts";
import type { Platform } from "../../../server/test/support/platform.ts";
import { fillLimits, fillSignatures } from "./showcase-limits.ts";
import { fillMachines } from "./showcase-machines.ts";
import { fillReplications, fillTrustRoots, fillUpstreams } from "./showcase-outside.ts";
import { fillPackages } from "./showcase-packages.ts";
import { fillPulls } from "./showcase-pulls.ts";

const LAYER = "application/vnd.oci.image.layer.v1.tar";
const BUNDLE = "application/vnd.dev.sigstore.bundle.v0.3+json";
const CRITICAL = { severity: [{ type: "CVSS_V3", score: "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H" }] };

/** What the screenshots of the console show. */
export interface Showcase {
  organization: string;
  repo: string;
  /** The digest of the newest image. */
  digest: string;
  advisory: string;
  identity: string;
  subscription: string;
  /** The uid of the npm package `@acme/forms`. */
  artifact: string;
  /** The uid of a signature policy, by which the newest image is signed. */
  policy: string;
  /** The uid of a registry that is followed. */
  upstream: string;
}

/** Fills an empty installation with a team's images: three versions under one tag, findings, an advisory, a machine. */
export async function fillShowcase(platform: Platform): Promise<Showcase> {
  const { organization } = platform;
  const { uid: repo } = await platform.repo(organization, { name: "web", description: "The shop's front" });
  await platform.repo(organization, { name: "worker", description: "Sends the mail" });
  const feeds = { ...platform, nowMs: platform.clock.nowMs() };
  await putRecords(feeds, "github", "osv", [
    osvOf("CVE-2026-31337", {
      summary: "left-pad runs what it pads",
      ...affectedBefore("left-pad", "1.3.0"),
      ...CRITICAL,
    }),
    osvOf("CVE-2026-4711", {
      summary: "tiny-router follows links out of its folder",
      ...affectedBefore("tiny-router", "2.2.0"),
    }),
  ]);
  await putRecords(feeds, "kev", "kev", [plainRecord("CVE-2026-31337")]);
  await fillPackages(platform);
  const token = await platform.token(platform.owner, { audience: new URL(platform.url).host });
  const target = { url: platform.url, token, name: "acme/web" };
  let digest = "";
  const base = tarOf([npmFile("usr", "web-runtime", "26.3.1"), npmFile("usr", "web-certificates", "20260801")]);
  await pushLayers({ ...target, name: "acme/base-runtime" }, "26.3.1", [base], LAYER, {
    architecture: "amd64",
    os: "linux",
  });
  for (const [version, padding] of [
    ["1.0.0", "1.1.0"],
    ["1.1.0", "1.2.0"],
    ["1.2.0", "1.3.0"],
  ] as const) {
    // One after the other: the events of an installation are in the same order each time.
    const images: [string, { os: string; architecture: string }][] = [];
    for (const architecture of ["amd64", "arm64"]) {
      const layers = [
        base,
        tarOf([npmFile("app", "left-pad", padding), npmFile("app", "tiny-router", "2.1.4")]),
        tarOf([npmFile("app", "@acme/forms", "4.8.0")]),
        tarOf([npmFile("app", `web-${architecture}`, version)]),
      ];
      const image = await pushLayers(target, architecture, layers, LAYER, configOf(architecture, version));
      images.push([image, { os: "linux", architecture }]);
    }
    for (const tag of ["latest", version]) digest = await pushIndex(target, tag, images);
    await pushArtifact(target, {
      artifactType: BUNDLE,
      subject: digest,
      layers: [{ mediaType: BUNDLE, content: "{}" }],
    });
  }
  await pushLayers(
    { ...target, name: "acme/worker" },
    "3.1.0",
    [base, tarOf([npmFile("app", "left-pad", "1.2.0"), npmFile("app", "@acme/forms", "4.7.3")])],
    LAYER,
    configOf("amd64", "3.1.0"),
  );
  // Until the packages of the image were read and compared.
  await eventually(async () => {
    const path = `/vulnerabilities/v2/findings?repo=${repo}&digest=${digest}`;
    const { findings } = await platform.ok<{ findings: unknown[] }>("GET", path);
    return findings.length > 0;
  });
  await fillPulls(platform, "CVE-2026-31337");
  const subscription = await platform.ok("POST", `/events/v2/subscriptions/${organization}`, {
    sink: "http://127.0.0.1:9/deployments",
    typePrefixes: ["dev.moorage.api."],
  });
  const advisory = await newAdvisory(platform, organization, { artifactName: "acme/web", aliases: ["CVE-2026-4711"] });
  const identity = await platform.identity(organization, "registry.pull");
  for (const name of ["okta", "gitlab"])
    await platform.ok("POST", `/iam/v2/identityProviders/${organization}`, {
      name,
      oidc: { issuer: "https://login.example.com", clientId: name },
    });
  const { artifacts } = await platform.ok<{ artifacts: { uid: string }[] }>(
    "GET",
    "/libraries/v2/artifacts?ecosystems=ECOSYSTEM_JAVASCRIPT&query=forms",
  );
  const artifact = artifacts[0]?.uid ?? "";
  const policy = await fillSignatures(platform, { ...target, repo }, digest);
  await fillMachines(platform);
  await fillLimits(platform);
  await fillTrustRoots(platform);
  await fillReplications(platform);
  const upstream = await fillUpstreams(platform);
  return {
    organization,
    repo,
    digest,
    advisory: advisory.uid,
    identity,
    subscription: subscription.uid,
    artifact,
    policy,
    upstream,
  };
}

function configOf(architecture: string, version: string): object {
  return {
    architecture,
    os: "linux",
    config: { Entrypoint: ["/app/web"], User: "1000", Labels: { "org.opencontainers.image.version": version } },
    history: [
      { created_by: "FROM acme/base-runtime:26.3.1" },
      { created_by: "COPY node_modules /app" },
      { created_by: "RUN npm install @acme/forms" },
      { created_by: "COPY web /app" },
    ],
  };
}
