import assert from "node:assert/strict";
import { test } from "node:test";
import { Code, MoorageError } from "../errors.ts";
import { faultIn } from "../lib/storage-fault.ts";
import { meaningOf, TransientError } from "./failures.ts";

const failing = (code: string, message = ""): Error => Object.assign(new Error(message), { code });

test("each class of SQLSTATE is retried where that may help, and stands for a fault of the database", () => {
  const cases: [code: string, message: string, kind: string, reason: string | undefined][] = [
    ["40001", "", "collision", undefined],
    ["40P01", "", "collision", undefined],
    ["23505", "", "collision", undefined],
    ["0A000", "cached plan must not change result type", "collision", undefined],
    ["0A000", "cannot use serializable mode in a hot standby", "connection", "read_only"],
    ["25006", "", "connection", "read_only"],
    ["53200", "out of shared memory", "shortage", "lock_memory"],
    ["53200", "out of memory", "shortage", "out_of_memory"],
    ["53400", "", "shortage", "overloaded"],
    ["53300", "", "connection", "connections"],
    ["08006", "", "connection", "unreachable"],
    ["57P01", "", "connection", "unreachable"],
    ["57P02", "", "connection", "unreachable"],
    ["57P03", "", "connection", "unreachable"],
    ["57P04", "", "connection", "missing"],
    ["57P05", "", "connection", "unreachable"],
    ["25P03", "", "connection", "unreachable"],
    ["3D000", "", "connection", "missing"],
    ["ECONNREFUSED", "", "connection", "unreachable"],
    ["EMFILE", "", "connection", "open_files"],
    ["", "Query read timeout", "connection", "silent"],
    ["53100", "", "none", "full"],
    ["58030", "", "none", "io_error"],
    ["XX001", "", "none", "damaged"],
    ["XX002", "", "none", "damaged"],
    ["55P03", "", "none", "overloaded"],
    ["57014", "", "none", "overloaded"],
    ["28P01", "", "none", "denied"],
    ["42501", "", "none", "denied"],
  ];
  for (const [code, message, kind, reason] of cases) {
    const meaning = meaningOf(failing(code, message));
    const found =
      meaning instanceof TransientError
        ? [meaning.kind, meaning.reason]
        : [meaning instanceof MoorageError ? "none" : "a defect", faultIn(meaning)?.reason];
    assert.deepEqual(found, [kind, reason], `${code} ${message}`);
    if (meaning instanceof MoorageError)
      assert.equal(meaning.code, reason === "full" ? Code.ResourceExhausted : Code.Unavailable);
  }
  for (const defect of [failing("42P01"), failing("XX000"), failing("22021"), new Error("else")])
    assert.equal(meaningOf(defect), defect);
});
