import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { create, toBinary } from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { StructSchema, ValueSchema } from "@bufbuild/protobuf/wkt";
import { AdvisorySchema, CreateIdentityRequestSchema, ListAdvisoriesRequestSchema } from "@moorage/api";
import { hasMoreFields } from "./protobuf-size.ts";

describe("how many values a message has", () => {
  test("fields, elements and what they hold count", () => {
    const advisory = toBinary(
      AdvisorySchema,
      create(AdvisorySchema, { advisoryId: "a", aliases: ["b", "c"], events: [{ uid: "d" }, {}] }),
    );
    // The id, two aliases, two events and the uid of one.
    assert.equal(hasMoreFields(AdvisorySchema, advisory, 6), false);
    assert.equal(hasMoreFields(AdvisorySchema, advisory, 5), true);
  });

  test("the entries of a map count with their keys and values", () => {
    const request = toBinary(
      CreateIdentityRequestSchema,
      create(CreateIdentityRequestSchema, {
        identity: { relationship: { case: "claimMatch", value: { claims: { a: "b", c: "d" } } } },
      }),
    );
    assert.equal(hasMoreFields(CreateIdentityRequestSchema, request, 8), false);
    assert.equal(hasMoreFields(CreateIdentityRequestSchema, request, 7), true);
    const struct = toBinary(
      StructSchema,
      create(StructSchema, { fields: { a: { kind: { case: "numberValue", value: 1 } } } }),
    );
    assert.equal(hasMoreFields(StructSchema, struct, 4), false);
    assert.equal(hasMoreFields(StructSchema, struct, 3), true);
  });

  test("each packed number counts, and each field that is not known, in groups too", () => {
    const states = toBinary(
      ListAdvisoriesRequestSchema,
      create(ListAdvisoriesRequestSchema, { eventReviewStates: Array(500).fill(1) }),
    );
    assert.equal(hasMoreFields(ListAdvisoriesRequestSchema, states, 501), false);
    assert.equal(hasMoreFields(ListAdvisoriesRequestSchema, states, 500), true);
    const unknown = new BinaryWriter();
    unknown.tag(9_999, WireType.StartGroup);
    for (let n = 0; n < 100; n++) unknown.tag(1, WireType.LengthDelimited).string("text");
    unknown.tag(9_999, WireType.EndGroup).tag(9_998, WireType.Bit64).fixed64(1).tag(9_997, WireType.Bit32).fixed32(1);
    const bytes = unknown.finish();
    assert.equal(hasMoreFields(AdvisorySchema, bytes, 104), false);
    assert.equal(hasMoreFields(AdvisorySchema, bytes, 103), true);
  });

  test("what is nested too deeply is too much, and what is no message is left to who reads it", () => {
    let value = create(ValueSchema);
    for (let depth = 0; depth < 60; depth++)
      value = create(ValueSchema, { kind: { case: "listValue", value: { values: [value] } } });
    assert.equal(hasMoreFields(ValueSchema, toBinary(ValueSchema, value), 1_000), true);
    const groups = new BinaryWriter();
    for (let depth = 0; depth < 101; depth++) groups.tag(9_999, WireType.StartGroup);
    assert.equal(hasMoreFields(AdvisorySchema, groups.finish(), 1_000), true);
    for (const bytes of [[0x0a], [0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f], [0x0f], Array(40).fill(0xff)])
      assert.equal(hasMoreFields(AdvisorySchema, Uint8Array.from(bytes), 1_000), false);
  });
});
