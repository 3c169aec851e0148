import { create, type DescField, type DescMessage, type MessageShape } from "@bufbuild/protobuf";
import { type FieldViolation, invalidArgument } from "@moorage/kernel/errors";
import { type Fields, getField, isUpdatable, setField } from "@moorage/kernel/lib/protojson/fields";

/** How the messages of a v1 resource and of its v2 resource become each other. */
export interface Mapping<A extends DescMessage = DescMessage, B extends DescMessage = DescMessage> {
  v1: A;
  v2: B;
  toV1(message: MessageShape<B>): MessageShape<A>;
  /** Throws INVALID_ARGUMENT for values that v2 has no form for. */
  toV2(message: MessageShape<A>): MessageShape<B>;
  /**
   * The fields of v2 that a replacement by v1 writes: all that v1 has and that can be changed. Fields of v2 alone keep
   * their values.
   */
  mask: { paths: string[] };
  /** The path of a field of v2 by its names in v1, as `id` for `uid`; unchanged where v1 has no such field. */
  pathOf(path: string): string;
}

/** A value that has another form in each version. */
export interface Converted<F extends string> {
  field: F;
  toV1(value: unknown): unknown;
  /** Undefined when v2 has no form for the value; `describe` then says what is wrong with it. */
  toV2(value: unknown): unknown;
  describe?: string;
  /** The mapping of the messages that are the field's values. */
  mapping?: Pick<Mapping, "pathOf">;
}

/** v1 alone has the field: it is empty in answers and ignored in requests. */
export const V1_ONLY: unique symbol = Symbol("v1 only");

/** A field of v2 with the same values, a converted one, or none. */
type Rule<F extends string> = F | Converted<F> | typeof V1_ONLY;
/** The names of a message's fields. */
type Names<D extends DescMessage> = keyof D["field"] & string;

interface Part {
  v1: DescField;
  v2: DescField;
  convert?: Converted<string> | undefined;
}

const mapped = new Set<DescMessage>();

/** The messages of v1 that have a mapping. */
export function mappedMessages(): ReadonlySet<DescMessage> {
  return mapped;
}

/**
 * The mapping of a v1 resource: a rule for each of its fields, which the type demands. Throws, at boot, when a field
 * with the same values has another type.
 */
export function mapping<A extends DescMessage, B extends DescMessage>(
  v1: A,
  v2: B,
  rules: { [F in Names<A>]: Rule<Names<B>> },
): Mapping<A, B> {
  mapped.add(v1);
  const parts = v1.fields.flatMap((field): Part[] => {
    const rule = (rules as Record<string, Rule<string>>)[field.localName];
    if (rule === V1_ONLY) return [];
    const convert = typeof rule === "string" ? undefined : rule;
    const name = typeof rule === "string" ? rule : rule?.field;
    const found = v2.fields.find(({ localName }) => localName === name);
    if (found === undefined) throw new Error(`${v2.typeName} has no field ${name ?? field.name}`);
    if (convert === undefined && typeOf(field) !== typeOf(found))
      throw new Error(`${field.toString()} and ${found.toString()} are of different types`);
    return [{ v1: field, v2: found, convert }];
  });
  return {
    v1,
    v2,
    mask: {
      paths: parts.filter((part) => isUpdatable(part.v2) && part.v2.name !== "uid").map(({ v2: { name } }) => name),
    },
    toV1(message) {
      const made = create(v1) as Fields;
      for (const part of parts) {
        const value = getField(message as Fields, part.v2);
        if (value === undefined) continue;
        setField(made, part.v1, part.convert === undefined ? value : each(part.v1, value, part.convert.toV1));
      }
      return made as MessageShape<A>;
    },
    toV2(message) {
      const made = create(v2) as Fields;
      const bad: FieldViolation[] = [];
      for (const part of parts) {
        const value = getField(message as Fields, part.v1);
        if (value === undefined) continue;
        setField(made, part.v2, part.convert === undefined ? value : valueOfV2(part.v1, part.convert, value, bad));
      }
      if (bad.length > 0) throw invalidArgument(...bad);
      return made as MessageShape<B>;
    },
    pathOf(path) {
      const [, name = "", index = "", rest] = /^([^.[]+)(\[[^\]]*\])?(?:\.(.*))?$/.exec(path) ?? [];
      const part = parts.find(({ v2: { jsonName, name: own } }) => jsonName === name || own === name);
      if (part === undefined) return path;
      const inner = rest === undefined ? "" : `.${part.convert?.mapping?.pathOf(rest) ?? rest}`;
      return `${part.v1.jsonName}${index}${inner}`;
    },
  };
}

/** A field whose values are messages with a mapping of their own. */
export function nested<F extends string, A extends DescMessage, B extends DescMessage>(
  field: F,
  inner: Mapping<A, B>,
): Converted<F> {
  return {
    field,
    toV1: (value) => inner.toV1(value as MessageShape<B>),
    toV2: (value) => inner.toV2(value as MessageShape<A>),
    mapping: inner,
  };
}

/** An enum with other numbers: pairs of the number in v1 and that in v2. */
export function numbered<F extends string>(field: F, pairs: readonly (readonly [number, number])[]): Converted<F> {
  const [toV2, toV1] = [new Map(pairs), new Map(pairs.map(([one, other]) => [other, one]))];
  return {
    field,
    toV1: (value) => toV1.get(value as number) ?? 0,
    toV2: (value) => toV2.get(value as number),
    describe: "must be one of the values that v1 has",
  };
}

/** An enum of another type with the same numbers. */
export function sameNumbers<F extends string>(field: F): Converted<F> {
  return { field, toV1: (value) => value, toV2: (value) => value };
}

function each(
  { fieldKind }: DescField,
  value: unknown,
  convert: (value: unknown, key: string | number) => unknown,
): unknown {
  if (fieldKind === "list") return (value as unknown[]).map(convert);
  if (fieldKind !== "map") return convert(value, "");
  return Object.fromEntries(Object.entries(value as object).map(([key, one]) => [key, convert(one, key)]));
}

function valueOfV2(
  field: DescField,
  { toV2, describe = "cannot be read" }: Converted<string>,
  value: unknown,
  bad: FieldViolation[],
): unknown {
  const { jsonName, fieldKind } = field;
  return each(field, value, (element, key) => {
    const made = toV2(element);
    const at = fieldKind === "list" ? `[${key}]` : fieldKind === "map" ? `.${key}` : "";
    if (made === undefined) bad.push({ field: `${jsonName}${at}`, description: describe });
    return made;
  });
}

function typeOf(field: DescField): string {
  const { message, enum: values, scalar, fieldKind } = field;
  return `${fieldKind} ${message?.typeName ?? values?.typeName ?? String(scalar)}`;
}
