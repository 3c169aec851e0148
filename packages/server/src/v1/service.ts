import {
  create,
  type DescMessage,
  type DescMethodUnary,
  type DescService,
  getOption,
  type Message,
  type MessageInitShape,
  type MessageShape,
} from "@bufbuild/protobuf";
import { transaction } from "@moorage/api/messages";
import { requireKnownValues } from "../aip/known-values.ts";
import { accessOf } from "../auth/index.ts";
import { isUnary } from "../core/method-kinds.ts";
import { isStreamed, type Streamed } from "../core/streamed.ts";
import { invalidArgument, MoorageError } from "../errors.ts";
import { type Method, nameOf } from "../runtime/methods.ts";
import type { Mapping } from "./mapping.ts";
import { type V2, v2Of } from "./v2.ts";

/** A service of v1, each method made of methods of v2. */
export type Translation<S extends DescService> = {
  [K in keyof S["method"]]: S["method"][K] extends DescMethodUnary<infer I, infer O>
    ? (v2: V2, request: MessageShape<I>) => Promise<MessageInitShape<O> | Streamed<O>>
    : never;
};

type Answer = (v2: V2, request: Message) => Promise<Record<string, unknown> | Streamed>;

/**
 * The methods of a v1 service by full name. Violations of v2's fields are named as v1 has them, by these mappings.
 * Rights, transactions, events and audit are those of the methods of v2.
 */
export function translated<S extends DescService>(
  service: S,
  mappings: readonly Pick<Mapping, "pathOf">[],
  functions: Translation<S>,
): [string, Method][] {
  return service.methods.map((desc): [string, Method] => {
    const answer = (functions as Record<string, Answer>)[desc.localName];
    if (!isUnary(desc) || answer === undefined) throw new Error(`${desc.toString()} is not served`);
    return [
      nameOf(desc),
      {
        kind: "translated",
        desc,
        access: accessOf(desc),
        transaction: getOption(desc, transaction),
        async answer(context, request) {
          try {
            requireKnownValues(desc, request);
            const answered = await answer(v2Of(context), request);
            return isStreamed(answered) ? answered : create(desc.output, answered);
          } catch (error) {
            throw renamed(error, mappings, desc.input);
          }
        },
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
    for (const { pathOf } of mappings) if (pathOf(path) !== path) return pathOf(path);
    if (path === "uid") return "id";
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
