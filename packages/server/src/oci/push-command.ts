import type { Call } from "../core/call.ts";
import { type Command, command } from "../core/command.ts";
import { resolveRepository } from "../core/image-path.ts";
import type { TermsDocument } from "../core/service.ts";
import { requireTerms } from "../iam/index.ts";

/** Where a push goes: an image's name, or the uid of its repo. */
type Place = { name: string } | { repo: string };

/** What a push command needs beside its call: the documents that a push may require to be accepted. */
export interface PushContext {
  terms: readonly TermsDocument[];
}

/**
 * Declares a command of a push, held back by documents that block pushing. They are looked at when the command is done:
 * whoever may not push is told so first, and what was done goes with the transaction.
 */
export function pushCommand<Input extends Place, Output>(
  name: string,
  run: (call: Call, input: Input) => Promise<Output>,
): Command<Input, Output, PushContext> {
  return command(name, async (call, input, { terms }) => {
    const output = await run(call, input);
    if (terms.length > 0) await requireTerms(call, terms, "push", await placesOf(call, input));
    return output;
  });
}

async function placesOf(call: Call, input: Place): Promise<string[]> {
  if ("repo" in input) return [input.repo];
  const { repo, group } = await resolveRepository(call, input.name);
  return [repo ?? group ?? ""];
}
