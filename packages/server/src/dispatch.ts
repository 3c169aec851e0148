import { type DescMethodUnary, fromBinary, type Message, toBinary } from "@bufbuild/protobuf";
import { Transaction } from "@moorage/api";
import { authorize } from "./access/authorize.ts";
import { messageOf, type Stored } from "./aip/stored.ts";
import { packed, unpacked } from "./base/packed.ts";
import type { CallData } from "./call.ts";
import { openCall } from "./calls.ts";
import { Code, MoorageError } from "./errors.ts";
import { type Method, nameOf } from "./methods.ts";
import type { Database } from "./store/index.ts";
import type { Transactor } from "./transaction.ts";

export { isStored, type Stored } from "./aip/stored.ts";

/** A method that needs no transaction around it, and may read the token itself, as the exchange does. */
export type OutsideMethod = (data: CallData, request: Message, authorization: string | undefined) => Promise<Message>;

/** The one way in: every door's every call passes here, for rights and transaction. */
export interface Dispatch {
  unary(method: DescMethodUnary, data: CallData, message: Message, extra?: { authorization?: string }): Promise<Message>;
  /** The same, for doors that can do with an answer as it is stored. */
  answer(method: DescMethodUnary, data: CallData, message: Message, extra?: { authorization?: string }): Promise<Message | Stored>;
}

export interface DispatchDeps {
  methods: Map<string, Method>;
  outside: Map<string, OutsideMethod>;
  reader: Database;
  transactor: Transactor;
  admins: readonly string[];
}

export function createDispatch({ methods, outside, reader, transactor, admins }: DispatchDeps): Dispatch {
  const answer: Dispatch["answer"] = async (desc, data, message, extra) => {
    const name = nameOf(desc);
    const loose = outside.get(name);
    if (loose !== undefined) return await loose(data, message, extra?.authorization);
    const method = methods.get(name);
    if (method === undefined) throw new MoorageError(Code.Unimplemented, `there is no method ${name}`);
    const call = openCall(data, reader);
    await authorize(desc, method.access, call, message, admins.includes(data.caller.identity));
    if (method.transaction !== Transaction.WRITE) return await method.run(call, message);
    return fromBinary(desc.output, unpacked(await transactor.write("method", data, { method: name, request: packed(toBinary(desc.input, message)) })));
  };
  return { answer, unary: async (desc, data, message, extra) => messageOf(await answer(desc, data, message, extra)) };
}
