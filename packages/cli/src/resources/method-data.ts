// The methods of a noun as gen/resources has them: a message stands there once, however many methods have it.
import type { FieldSpec, MethodSpec, NounSpec } from "./spec.ts";

/** A field, with the name of its message instead of the fields of that. */
export interface FieldData extends Omit<FieldSpec, "fields"> {
  readonly of?: string;
}

/** Some fields of a message, by their names. */
interface FieldChoice {
  readonly of: string;
  readonly names: readonly string[];
}

/** A method, with the names of its messages instead of their fields. */
export interface MethodData extends Omit<MethodSpec, "flags" | "response"> {
  /** The fields that flags fill. */
  readonly flags: FieldChoice;
  /** Those of the request that it has beside the resource in its body. */
  readonly besides?: FieldChoice;
  /** The response, or one item where that is a list. */
  readonly response: string;
}

/** The methods of a noun, and the fields of their messages by the messages' names. */
export interface NounData {
  readonly messages: Readonly<Record<string, readonly FieldData[]>>;
  readonly methods: readonly MethodData[];
}

/** How deep flags go into messages. */
export const FLAG_DEPTH = 3;

/** The methods of a noun. */
export async function methodsOf(noun: NounSpec): Promise<MethodSpec[]> {
  const { DATA } = await noun.load();
  const { messages, methods } = JSON.parse(DATA) as NounData;
  const fieldsOf = (message: string, depth: number): FieldSpec[] =>
    (messages[message] ?? []).map(({ of, ...field }) =>
      of === undefined || depth === 1
        ? field
        : { ...field, fields: fieldsOf(of, depth - 1).filter(({ output }) => output !== true) },
    );
  const chosen = ({ of, names }: FieldChoice, depth: number): FieldSpec[] =>
    fieldsOf(of, depth).filter(({ name }) => names.includes(name));
  // A command line is about one of them: the fields of the others are not looked at.
  return methods.map(({ flags, besides, response, ...method }) => ({
    ...method,
    get flags() {
      const inQuery = besides ? chosen(besides, 1).map((field) => ({ ...field, inQuery: true as const })) : [];
      return [...chosen(flags, FLAG_DEPTH), ...inQuery];
    },
    get response() {
      return fieldsOf(response, 1).filter(({ input }) => input !== true);
    },
  }));
}
