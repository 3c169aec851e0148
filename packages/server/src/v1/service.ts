import {
  create,
  type DescMessage,
  type DescMethodUnary,
  type DescService,
  type Message,
  type MessageInitShape,
  type MessageShape,
} from "@bufbuild/protobuf";
import { Transaction, transaction } from "@moorage/api/messages";
import { requireKnownValues } from "@moorage/kernel/aip/known-values";
import { accessOf } from "@moorage/platform/auth";
import type { Call } from "@moorage/kernel/core/call";
import { isUnary } from "@moorage/kernel/core/method-kinds";
import { isStreamed, type Streamed } from "@moorage/kernel/core/streamed-answer";
import { invalidArgument, MoorageError } from "@moorage/kernel/errors";
import type { Awaitable } from "@moorage/kernel/lib/awaitable";
import { type Method, nameOf } from "../runtime/methods.ts";
import type { Mapping } from "./mapping.ts";
import { type V2, v2Of } from "./v2.ts";
import { optionOf } from "@moorage/kernel/lib/options";

/** A service of v1, each method made of methods of v2, or reading what v2 has no method for. */
export type Translation<S extends DescService> = {
  [K in keyof S["method"]]: S["method"][K] extends DescMethodUnary<infer I, infer O>
    ? ((v2: V2, request: MessageShape<I>) => Promise<MessageInitShape<O> | Streamed<O>>) | Reading<I, O>
    : never;
};

const READING: unique symbol = Symbol("reading");

/** A method that v2 has none for: it only reads, with the rights that its own access rule demands. */
export interface Reading<I extends DescMessage, O extends DescMessage> {
  readonly [READING]: DescMethodUnary<I, O>;
  read(call: Call, request: MessageShape<I>): Awaitable<MessageInitShape<O> | Streamed<O>>;
}

/** Makes such a method from a function of services. Throws at boot unless the method is declared as one that reads. */
export function reading<I extends DescMessage, O extends DescMessage>(
  method: DescMethodUnary<I, O>,
  read: Reading<I, O>["read"],
): Reading<I, O> {
  if (optionOf(method, transaction) !== Transaction.READ) throw new Error(`${method.toString()} does not only read`);
  return { [READING]: method, read };
}

type Answer = (v2: V2, request: Message) => Promise<Record<string, unknown> | Streamed>;
type AnyReading = {
  [READING]: DescMethodUnary;
  read(call: Call, request: Message): Awaitable<Record<string, unknown> | Streamed>;
};

/**
 * The methods of a v1 service by full name. Violations of v2's fields are named as v1 has them, by these mappings.
 * Rights, transactions, events and audit of what is made of v2's methods are those of these methods.
 */
export function translated<S extends DescService>(
  service: S,
  mappings: readonly Pick<Mapping, "pathOf">[],
  functions: Translation<S>,
): [string, Method][] {
  return service.methods.map((desc): [string, Method] => {
    const answer = (functions as Record<string, Answer | AnyReading>)[desc.localName];
    if (!isUnary(desc) || answer === undefined) throw new Error(`${desc.toString()} is not served`);
    const ruled = { desc, access: accessOf(desc), transaction: optionOf(desc, transaction) };
    const named = async (work: () => Awaitable<Record<string, unknown> | Streamed>): Promise<Message | Streamed> => {
      try {
        const answered = await work();
        return isStreamed(answered) ? answered : create(desc.output, answered);
      } catch (error) {
        throw renamed(error, mappings, desc.input);
      }
    };
    if (typeof answer !== "function") {
      if (answer[READING] !== desc) throw new Error(`${desc.toString()} is answered by another method`);
      return [
        nameOf(desc),
        { kind: "unary", ...ruled, run: (call, request) => named(() => answer.read(call, request)) },
      ];
    }
    return [
      nameOf(desc),
      {
        kind: "translated",
        ...ruled,
        answer: (context, request) =>
          named(() => {
            requireKnownValues(desc, request);
            return answer(v2Of(context), request);
          }),
      },
    ];
  });
}

/** What requests of v1 call the resource that a new one is below. */
const PARENTS: ReadonlySet<string> = new Set(["parent_id", "repo_id", "group"]);

/** An error with the names of v1 in its violations. */
function renamed(error: unknown, mappings: readonly Pick<Mapping, "pathOf">[], input: DescMessage): unknown {
  if (!(error instanceof MoorageError) || error.details.fieldViolations === undefined) return error;
  const nameOfField = (path: string): string => {
    // The one Get of v1 has its resource's id as `uid`.
    if (path === "uid" && input.fields.some(({ name }) => name === "uid")) return path;
    for (const { pathOf } of mappings) if (pathOf(path) !== path) return pathOf(path);
    if (path === "uid") return "id";
    if (path === "repoUid" || path === "repo_uid") return "repoId";
    if (path === "parent") return input.fields.find(({ name }) => PARENTS.has(name))?.jsonName ?? path;
    return path;
  };
  const violations = error.details.fieldViolations.map(({ field, description }) => ({
    field: nameOfField(field),
    description,
  }));
  return new MoorageError(error.code, invalidArgument(...violations).message, {
    ...error.details,
    fieldViolations: violations,
  });
}
