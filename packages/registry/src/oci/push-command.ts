import type { Call } from "@moorage/kernel/core/call";
import { type Command, command, type CommandOptions, type Sharing } from "@moorage/kernel/core/command";
import { resolveRepository } from "@moorage/kernel/core/image-path";
import type { TermsDocument } from "@moorage/kernel/core/service";
import { requireTerms } from "@moorage/platform/iam";

/** The target of a push: the path of an image, or the uid of its repo. */
type PushTarget = { name: string } | { repo: string };

/** What a push command needs beside its call: the documents that a push may require to be accepted. */
export interface PushContext {
  terms: readonly TermsDocument[];
}

/** How a command of a push is committed. */
interface PushOptions<Input, Output> extends Pick<
  CommandOptions<Input, Output>,
  "durability" | "numbering" | "changes"
> {
  /**
   * What a push of this input reads and writes, so that it shares a transaction with others on PostgreSQL; a
   * transaction of its own without it. Names: `upload`, `blob` and `image` by digest in all repos, `manifest` and `tag`
   * by the path of the repo. Two that create the same repo or group meet at the index of its name, and run alone then.
   */
  touches?(input: Input): Omit<Sharing, "kind"> | undefined;
}

/**
 * Declares a command of a push, which documents that block pushing can prevent. They are checked after the command has
 * run, so that a caller without rights gets that error first; the transaction is rolled back when they block.
 */
export function pushCommand<Input extends PushTarget, Output>(
  name: string,
  run: (call: Call, input: Input) => Promise<Output>,
  { touches, ...options }: PushOptions<Input, Output> = {},
): Command<Input, Output, PushContext> {
  return command(
    name,
    async (call, input, { terms }) => {
      const output = await run(call, input);
      if (terms.length > 0) await requireTerms(call, terms, "push", await scopesOf(call, input));
      return output;
    },
    {
      ...options,
      sharingOf(input) {
        const touched = touches?.(input);
        return touched && { kind: "pushes", ...touched };
      },
    },
  );
}

/**
 * For the steps of a push before its manifest: their commits do not wait for the disk. The manifest's commit makes them
 * durable with itself; what a crash of the machine takes back before that is missing when the manifest comes, which is
 * refused then, so that the client sends it again. Their events get numbers with those of the manifest.
 */
export const BEFORE_MANIFEST = { durability: "deferred", numbering: "later" } as const;

async function scopesOf(call: Call, input: PushTarget): Promise<string[]> {
  if ("repo" in input) return [input.repo];
  const { repo, group } = await resolveRepository(call, input.name);
  return [repo ?? group ?? ""];
}
