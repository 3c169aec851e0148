import type { Call } from "../core/call.ts";
import { requireTerms } from "../iam/index.ts";
import type { TermsDocument } from "../core/service.ts";
import { distributionCommands } from "./commands.ts";
import { resolveRepository } from "./names.ts";

/** Where a push goes: an image's name, or the uid of its repo. */
type Place = { name: string } | { repo: string };

/**
 * The commands of a push, held back by documents that block pushing. They are looked at when the command is done:
 * whoever may not push is told so first, and what was done goes with the transaction.
 */
export function pushCommands(terms: readonly TermsDocument[]) {
  const waiting =
    <I extends Place, O>(command: (call: Call, input: I) => Promise<O>) =>
    async (call: Call, input: I): Promise<O> => {
      const answer = await command(call, input);
      if (terms.length > 0) await requireTerms(call, terms, "push", await placesOf(call, input));
      return answer;
    };
  return {
    "distribution.ensureRepository": waiting(distributionCommands["distribution.ensureRepository"]),
    "distribution.startUpload": waiting(distributionCommands["distribution.startUpload"]),
    "distribution.commitBlob": waiting(distributionCommands["distribution.commitBlob"]),
    "distribution.mountBlob": waiting(distributionCommands["distribution.mountBlob"]),
    "distribution.putManifest": waiting(distributionCommands["distribution.putManifest"]),
  };
}

async function placesOf(call: Call, input: Place): Promise<string[]> {
  if ("repo" in input) return [input.repo];
  const { repo, group } = await resolveRepository(call, input.name);
  return [repo ?? group ?? ""];
}
