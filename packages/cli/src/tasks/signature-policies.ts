// What `moorage signature-policies` has besides the methods of the API.
import { completes } from "../command/completion-sources.ts";
import { UsageFailure } from "../command/failure.ts";
import type { Extended, Extension, Extra } from "../resources/extension.ts";
import { repeatable } from "./options.ts";
import type { Tasks } from "./tasks.ts";

/** `--signer` and what belongs to it: the one rule of a policy, without writing it as JSON. */
const RULE: Extension = {
  example: "moorage signature-policies create acme/release --signer acme/release --on pull",
  addOptions: (command) =>
    void command
      .addOption(
        completes(repeatable("--signer <name>", "whose signature an image needs: any of these (repeatable)"), "signer"),
      )
      .option("--predicate-type <type>", "an attestation that states this, in place of a signature of the image")
      .option("--threshold <number>", "signed by so many different keys or identities"),
  begin: ruleOf,
};

export const SIGNATURE_POLICY_TASKS: Tasks = {
  names: [],
  add() {},
  extend: { create: RULE, update: RULE },
};

async function ruleOf({ flags, fieldFlags, names }: Extended): Promise<Extra | undefined> {
  const signers = flags["signer"] as readonly string[] | undefined;
  const { predicateType, threshold } = flags as { predicateType?: string; threshold?: string };
  if (signers === undefined || signers.length === 0) {
    if (predicateType === undefined && threshold === undefined) return undefined;
    throw new UsageFailure("is of no use without --signer", {
      field: predicateType === undefined ? "--threshold" : "--predicate-type",
    });
  }
  if (fieldFlags.includes("--rules")) throw new UsageFailure("and --signer exclude each other", { field: "--rules" });
  const count = threshold === undefined ? 0 : Number(threshold);
  if (!Number.isInteger(count)) throw new UsageFailure("must be a number", { field: "--threshold" });
  const uids: string[] = [];
  for (const signer of signers) uids.push(await names.uidOf("signer", signer));
  return {
    resource: { rules: [{ name: "image", signers: uids, predicateType: predicateType ?? "", threshold: count }] },
  };
}
