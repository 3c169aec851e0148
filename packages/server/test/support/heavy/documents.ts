// Documents of the API that are made of what images hold.
import type { HeavyInput, HeavyWorld } from "./input.ts";
import { type Held, pushHolding } from "./images.ts";

/** The most packages of one SBOM. */
const MOST = 50_000;
/** As many as one image may hold. */
const TOO_MANY = 150_000;
const FINDINGS = 10_000;
/** What is refused at the moment says when to ask again. */
const SERVED = [200, 429];

function get(
  title: string,
  held: readonly Held[],
  path: (image: { repo: string; digests: string[] }) => string,
  statuses: readonly number[] = SERVED,
): HeavyInput {
  return {
    title,
    statuses,
    async prepare(world: HeavyWorld) {
      const image = await pushHolding(world, held);
      return (began) => world.send("GET", path(image), { token: world.platform, ...(began && { began }) });
    },
  };
}

export const DOCUMENTS: readonly HeavyInput[] = [
  get(
    "a CycloneDX document of 50,000 packages",
    [{ packages: MOST }],
    ({ repo, digests: [digest] }) => `/registry/v2/repos/${repo}/digests/${digest}/sbom`,
  ),
  get(
    "an SPDX document of 50,000 packages",
    [{ packages: MOST }],
    ({ repo, digests: [digest] }) => `/registry/v2/repos/${repo}/digests/${digest}/sbom?format=SBOM_FORMAT_SPDX`,
  ),
  get(
    "the rejection of a document of 150,000 packages",
    [{ packages: TOO_MANY }],
    ({ repo, digests: [digest] }) => `/registry/v2/repos/${repo}/digests/${digest}/sbom`,
    [400],
  ),
  get(
    "v1's SBOM of 50,000 packages",
    [{ packages: MOST }],
    ({ repo, digests: [digest] }) => `/registry/v1/repos/${repo}/digests/${digest}/sbom`,
  ),
  get(
    "a comparison of two images of 150,000 packages each",
    [{ packages: TOO_MANY }, { packages: TOO_MANY }],
    ({ repo, digests: [from, to] }) => `/registry/v2/repos/${repo}/diff?from=${from}&to=${to}`,
  ),
  get(
    "findings of an image of 150,000 packages",
    [{ packages: TOO_MANY, findings: FINDINGS }],
    ({ repo, digests: [digest] }) => `/vulnerabilities/v2/findings?repo=${repo}&digest=${digest}`,
  ),
  get(
    "v1's report about 10,000 vulnerabilities",
    [{ packages: FINDINGS, findings: FINDINGS }],
    ({ repo, digests: [digest] }) => `/registry/v1/vuln_reports?repo_id=${repo}&digest=${digest}`,
  ),
];
