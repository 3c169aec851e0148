// Asks before what cannot be taken back.
import { UsageFailure } from "../command/failure.ts";
import { isInteractive, question } from "./question.ts";

/**
 * Whether to go on. `text`: what will happen, such as `Deletes the repo acme/app and its 3 tags.` On a terminal it is
 * shown with the question, and only y or yes says so. `yes`: nothing is asked. Without a terminal and without `yes` it
 * throws a UsageFailure that says to add --yes.
 */
export async function confirm(text: string, { yes }: { yes?: boolean }): Promise<boolean> {
  if (yes === true) return true;
  if (!isInteractive())
    throw new UsageFailure(`${text.replace(/\.$/, "")}: nobody is there to ask`, { hint: "add --yes" });
  const answer = await question(`${text} Go on? [y/N] `);
  return /^y(?:es)?$/i.test(answer);
}
