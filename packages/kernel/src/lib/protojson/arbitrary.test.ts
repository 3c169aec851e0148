import { create, type DescEnum, type DescField, type DescMessage, type Message, ScalarType } from "@bufbuild/protobuf";
import { DurationSchema, StructSchema, TimestampSchema } from "@bufbuild/protobuf/wkt";
import fc from "fast-check";
import { type Fields, getField, setField } from "./fields.ts";

const KEYS = fc.string({ unit: "grapheme" }).filter((key) => key !== "__proto__");

// No tests here: the generators of messages for the property tests of the transcoder.

/**
 * Generates messages of the type, at most three levels deep. Times have whole milliseconds, as the API prints them
 * (docs/contract.md, "JSON"), and durations are valid.
 */
export function arbitraryMessage(desc: DescMessage, depth = 0): fc.Arbitrary<Message> {
  if (desc.typeName === TimestampSchema.typeName) {
    return fc
      .date({ min: new Date("0001-01-01T00:00:00Z"), max: new Date("9999-12-31T23:59:59.999Z"), noInvalidDate: true })
      .map((date) => {
        const seconds = Math.floor(date.getTime() / 1000);
        return create(TimestampSchema, {
          seconds: BigInt(seconds),
          nanos: (date.getTime() - seconds * 1000) * 1_000_000,
        });
      });
  }
  if (desc.typeName === DurationSchema.typeName) {
    // Seconds and nanos have the same sign, which the JSON form has only once.
    return fc
      .tuple(
        fc.bigInt({ min: 0n, max: 315_576_000_000n }),
        fc.integer({ min: 0, max: 999_999_999 }),
        fc.constantFrom(1, -1),
      )
      .map(([seconds, nanos, sign]) =>
        create(DurationSchema, { seconds: seconds * BigInt(sign), nanos: nanos === 0 ? 0 : nanos * sign }),
      );
  }
  const fields = desc.fields.filter((field) => field.message === undefined || depth < 3);
  const values = fc.tuple(...fields.map((field) => fc.option(arbitraryField(field, depth), { nil: undefined })));
  return values.map((drawn) => {
    const message = create(desc) as Fields;
    for (const [at, field] of fields.entries()) if (drawn[at] !== undefined) setField(message, field, drawn[at]);
    return message;
  });
}

function arbitraryField(field: DescField, depth: number): fc.Arbitrary<unknown> {
  const plain = field.enum ? arbitraryEnum(field.enum) : arbitraryScalar(field.scalar ?? ScalarType.STRING);
  const value = field.message ? arbitraryValue(field.message, depth + 1) : plain;
  if (field.fieldKind === "list") return fc.array(value, { maxLength: 3 });
  if (field.fieldKind !== "map") return value;
  return fc.dictionary(KEYS, value, { maxKeys: 3, noNullPrototype: true });
}

function arbitraryValue(desc: DescMessage, depth: number): fc.Arbitrary<unknown> {
  if (desc.typeName !== StructSchema.typeName) return arbitraryMessage(desc, depth);
  // In the form in which JSON is read back: JSON has no -0.
  const json = fc.dictionary(KEYS, fc.jsonValue(), { maxKeys: 3 }).map((value) => JSON.stringify(value));
  return json.filter((text) => !text.includes("__proto__")).map((text): unknown => JSON.parse(text));
}

function arbitraryEnum(desc: DescEnum): fc.Arbitrary<number> {
  return fc.constantFrom(...desc.values.map((value) => value.number));
}

function arbitraryScalar(scalar: ScalarType): fc.Arbitrary<unknown> {
  if (scalar === ScalarType.BOOL) return fc.boolean();
  if (scalar === ScalarType.INT32) return fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });
  if (scalar === ScalarType.INT64) return fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
  if (scalar === ScalarType.BYTES) return fc.uint8Array({ maxLength: 9 });
  return fc.string({ unit: "grapheme" });
}

/** The message without the fields for which `isLeftOut` is true, at any depth. */
export function withoutFields(desc: DescMessage, message: object, isLeftOut: (field: DescField) => boolean): Fields {
  const left = create(desc) as Fields;
  for (const field of desc.fields) {
    const value = isLeftOut(field) ? undefined : getField(message as Fields, field);
    if (value === undefined) continue;
    const nested = field.message;
    const stripped =
      nested === undefined || field.fieldKind === "map" || nested.file.proto.package === "google.protobuf"
        ? value
        : Array.isArray(value)
          ? value.map((item) => withoutFields(nested, item as object, isLeftOut))
          : withoutFields(nested, value as object, isLeftOut);
    setField(left, field, stripped);
  }
  return left;
}
