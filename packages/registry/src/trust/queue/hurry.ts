import type { Call } from "@moorage/kernel/core/call";
import { command } from "@moorage/kernel/core/command";
import { ancestorsOf } from "@moorage/kernel/lib/uid";
import { hurrySignatureChecks } from "../../registry/index.ts";
import { takeAdvisoryLock } from "@moorage/kernel/store";
import { awaitReading, hurryReading } from "../attached/check.ts";
import { READING_STATE, VERIFYING } from "../command-options.ts";
import { judgedBy } from "../signatures/judge.ts";

/**
 * Has the signatures of these manifests of a repo verified before all others: somebody waits for them. What was
 * verified against what a signer said earlier is verified anew without waiting for its turn.
 */
export const hurrySignatures = command(
  "trust.hurrySignatures",
  async (call: Call, { repo, digests }: { repo: string; digests: string[] }): Promise<void> => {
    const { tx, wake } = call;
    await takeAdvisoryLock(tx, "signatures");
    await hurrySignatureChecks(call, repo, digests);
    const signers = await tx
      .selectFrom("signers")
      .select(["uid", "version"])
      .where("parent", "in", ancestorsOf(repo))
      .execute();
    const attached = await tx
      .selectFrom("signature_sources as s")
      .leftJoin("signature_readings as r", (on) =>
        on.onRef("r.subject", "=", "s.subject").onRef("r.manifest", "=", "s.manifest"),
      )
      .select(["s.subject", "s.manifest", "r.state", "r.signers"])
      .where("s.repo", "=", repo)
      .where("s.subject", "in", digests)
      .where("s.until_time", "is", null)
      .execute();
    for (const { subject, manifest, state, signers: read } of attached) {
      const judged = judgedBy(read === null ? undefined : { signers: read });
      const isCurrent = signers.every(({ uid, version }) => judged[uid]?.[0] === version);
      // What has failed for good is not attempted each time that somebody asks.
      if (state === READING_STATE.failed || (state === READING_STATE.done && isCurrent)) continue;
      if (state !== READING_STATE.waiting) await awaitReading(call, subject, manifest);
      await hurryReading(call, subject, manifest);
    }
    wake("signatures");
  },
  VERIFYING,
);
