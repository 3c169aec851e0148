import type { DescMethodUnary, Message } from "@bufbuild/protobuf";
import { EmptySchema } from "@bufbuild/protobuf/wkt";
import { isV1 } from "@moorage/kernel/core/api-version";
import { isStored, type Stored } from "@moorage/kernel/core/stored-answer";
import { jsonWriter, V1_ANSWER } from "@moorage/kernel/lib/protojson/write";
import { writeStored } from "./stored-json.ts";

/** The function that writes the method's answers as JSON; an empty text where there is no body. */
export function jsonEncoder({ output, parent }: DescMethodUnary): (answer: Message | Stored) => string {
  if (output.typeName === EmptySchema.typeName) return () => "";
  const write = isV1(parent) ? jsonWriter(output, V1_ANSWER) : jsonWriter(output);
  return (answer) => (isStored(answer) ? writeStored(answer) : write(answer));
}
