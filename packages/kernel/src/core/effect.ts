import { type DescMethod, hasOption } from "@bufbuild/protobuf";
import { effect as effectOption, Effect_Change, transaction, Transaction } from "@moorage/api/messages";
import { optionOf } from "../lib/options.ts";

/** What a call of a method may do to what is there. */
export interface MethodEffect {
  readOnly: boolean;
  /** Whether it may replace or remove something. */
  destructive: boolean;
  /** Whether the same call again changes nothing more. */
  idempotent: boolean;
  /** Whether it reaches systems outside of this installation. */
  openWorld: boolean;
  /** What it does, in a few words for people. */
  title: string;
}

/**
 * What a call of the method may do, by its option `effect`. A method whose transaction reads needs none. Throws for any
 * other without one: whether it changes something would be a guess.
 */
export function effectOf(method: DescMethod): MethodEffect {
  const reads = optionOf(method, transaction) === Transaction.READ;
  const { change, idempotent, openWorld, title } = optionOf(method, effectOption);
  const isStated = hasOption(method, effectOption) && change !== Effect_Change.UNSPECIFIED;
  if (!isStated && !reads) throw new Error(`${method.toString()} does not say what it changes, by the option effect`);
  if (isStated && reads && change !== Effect_Change.NONE)
    throw new Error(`${method.toString()} changes something in a transaction that reads`);
  const readOnly = reads || change === Effect_Change.NONE;
  return {
    readOnly,
    destructive: change === Effect_Change.DESTRUCTIVE,
    idempotent: readOnly || idempotent,
    openWorld,
    title: title || wordsOf(method.name),
  };
}

/** `ListTagMoves` as "List tag moves". */
function wordsOf(name: string): string {
  return name.replaceAll(/(?<!^)[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}
