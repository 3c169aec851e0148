import { dayOf } from "../../../kernel/src/lib/days.ts";
import type { Place } from "../../../server/test/support/catalog/place.ts";
import type { Platform } from "../../../server/test/support/platform.ts";
import {
  cosignLayer,
  cosignPayload,
  newKey,
  pushCosign,
  verifiedSignatures,
} from "../../../server/test/support/signing.ts";

const DAY_MS = 86_400_000;
const GIB = 1024 ** 3;

/** A signer whose key signed the image, and a policy that asks for that. Answers the policy's uid. */
export async function fillSignatures(platform: Platform, place: Place, digest: string): Promise<string> {
  const { organization } = platform;
  const key = newKey();
  const signer = await platform.ok("POST", `/registry/v2/signers/${organization}`, {
    name: "release",
    description: "The release workflow",
    keys: [{ pem: key.pem }],
  });
  await pushCosign(place, digest, [cosignLayer(key, cosignPayload(digest))]);
  // The other one is the empty bundle that the image has as a referrer.
  await verifiedSignatures(platform, place, digest, 2);
  const policy = await platform.ok("POST", `/registry/v2/signaturePolicies/${organization}`, {
    name: "signed",
    description: "What runs in production is signed by the release workflow",
    repoPattern: "acme/.*",
    on: ["SIGNATURE_ACTION_PULL", "SIGNATURE_ACTION_PROMOTE"],
    rules: [{ name: "image", signers: [signer.uid] }],
  });
  return policy.uid;
}

/** Groups with quotas, and what the organization took up in the months before. */
export async function fillLimits(platform: Platform): Promise<void> {
  const { organization } = platform;
  const labels = { costLabels: { "cost-center": "4711" } };
  const { uid: payments } = await platform.group(organization, { name: "payments", ...labels });
  const { uid: data } = await platform.group(organization, { name: "data" });
  await platform.repo(payments, { name: "api" });
  await platform.ok("POST", `/registry/v2/quotas/${organization}`, { bytes: String(500 * GIB), tags: "9" });
  await platform.ok("POST", `/registry/v2/quotas/${payments}`, { bytes: String(10 * GIB), repos: "1" });
  await platform.ok("POST", `/registry/v2/quotas/${data}`, { tags: "100", libraries: "20" });
  const nowMs = platform.clock.nowMs();
  await platform.transact(async (tx) => {
    for (const [grp, gib] of [
      [organization, 460],
      [payments, 180],
      [data, 84],
    ] as const)
      for (const daysAgo of [95, 65, 35, 1]) {
        const time = nowMs - daysAgo * DAY_MS;
        const bytes = Math.round((gib - daysAgo / 2) * GIB);
        await tx
          .insertInto("usage_days")
          .values({ grp, day: dayOf(time), bytes, at_least: 0, time })
          .execute();
      }
  });
}
