import type { Call } from "../../core/call.ts";
import { type Command, command } from "../../core/command.ts";
import type { TermsDocument } from "../../core/service.ts";
import { requireTerms } from "../../iam/index.ts";
import { type EcosystemKey, ECOSYSTEMS } from "../ecosystems.ts";
import { requireOn } from "./groups.ts";

/** Where something is published: the group by its uid, and by the path that was asked for. */
export interface PublishTarget {
  group: string;
  path: string;
}

/** What commands that publish need: the documents of which some must be accepted first. */
export interface PublishContext {
  terms: readonly TermsDocument[];
}

/**
 * Declares a command that publishes to a group. The right to publish is asked for again in its transaction, and
 * documents that block pushes block it, too: these are checked after it has run, so that a caller without rights gets
 * that error first.
 */
export function publishCommand<Input extends PublishTarget, Output>(
  name: string,
  ecosystem: EcosystemKey,
  run: (call: Call, input: Input) => Promise<Output>,
): Command<Input, Output, PublishContext> {
  return command(name, async (call, input, { terms }) => {
    await requireOn(call, input.group, input.path, ECOSYSTEMS[ecosystem].publish);
    const output = await run(call, input);
    if (terms.length > 0) await requireTerms(call, terms, "push", [input.group]);
    return output;
  });
}
