// What `moorage signature-policies` has besides the methods of the API.
import { completes } from "../command/completion-sources.ts";
import { UsageFailure } from "../command/failure.ts";
import type { Extended, Extension, Extra } from "../resources/extension.ts";
import { repeatable } from "./options.ts";
import { contentOf, isRuleFlag, RULE_OPTIONS } from "./signature-rules.ts";
import type { Tasks } from "./tasks.ts";

/** `--signer` and what belongs to it: the one rule of a policy, without writing it as JSON. */
const RULE: Extension = {
  example: "moorage signature-policies create acme/release --signer acme/release --on pull",
  addOptions(command) {
    command.addOption(
      completes(repeatable("--signer <name>", "whose signature an image needs: any of these (repeatable)"), "signer"),
    );
    for (const option of RULE_OPTIONS) command.addOption(option());
    command.addOption(
      completes(
        repeatable(
          "--document-signer <name>",
          "only SBOMs and VEX documents that one of these has signed count (repeatable)",
        ),
        "signer",
      ),
    );
  },
  async begin(run) {
    const [rules, documentSigners] = [await rulesOf(run), await documentSignersOf(run)];
    if (rules === undefined && documentSigners === undefined) return undefined;
    return { resource: { ...(rules && { rules }), ...(documentSigners && { documentSigners }) } } satisfies Extra;
  },
};

export const SIGNATURE_POLICY_TASKS: Tasks = {
  names: [],
  add() {},
  extend: { create: RULE, update: RULE },
};

async function rulesOf({ flags, fieldFlags, names }: Extended) {
  const signers = flags["signer"] as readonly string[] | undefined;
  if (signers === undefined || signers.length === 0) {
    const useless = isRuleFlag(flags);
    if (useless === undefined) return undefined;
    throw new UsageFailure("is of no use without --signer", { field: useless });
  }
  if (fieldFlags.includes("--rules")) throw new UsageFailure("and --signer exclude each other", { field: "--rules" });
  return [{ name: "image", signers: await uidsOf(names, signers), ...contentOf(flags) }];
}

async function documentSignersOf({ flags, fieldFlags, names }: Extended): Promise<string[] | undefined> {
  const signers = flags["documentSigner"] as readonly string[] | undefined;
  if (signers === undefined || signers.length === 0) return undefined;
  if (fieldFlags.includes("--document-signers"))
    throw new UsageFailure("and --document-signer exclude each other", { field: "--document-signers" });
  return await uidsOf(names, signers);
}

async function uidsOf(names: Extended["names"], signers: readonly string[]): Promise<string[]> {
  const uids: string[] = [];
  for (const signer of signers) uids.push(await names.uidOf("signer", signer));
  return uids;
}
