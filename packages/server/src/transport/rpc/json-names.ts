import { clone, create, createFileRegistry, type DescEnum, type DescFile, type DescService } from "@bufbuild/protobuf";
import {
  EnumValueDescriptorProtoSchema,
  type FileDescriptorProto,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
} from "@bufbuild/protobuf/wkt";
import { otherNamesOf } from "@moorage/kernel/lib/protojson/read-scalars";

// A descriptor takes no other name; the dotted names of capabilities are refused by Connect's JSON, not dropped.
const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/;

/**
 * The services by full name, with descriptors for Connect's own JSON reader: their enums have, beside each value, one
 * of the same number for every other name that REST reads. The value's own name is what is written, because it is the
 * first one of its number.
 */
export function servicesForJson(services: readonly DescService[]): Map<string, DescService> {
  const files = new Set<DescFile>();
  for (const service of services) addAfterImports(service.file, files);
  const file = [...files].map((each) => (each.proto.package.startsWith("moorage.") ? widened(each) : each.proto));
  const registry = createFileRegistry(create(FileDescriptorSetSchema, { file }));
  return new Map(
    services.map(({ typeName }) => {
      const service = registry.getService(typeName);
      if (service === undefined) throw new Error(`${typeName} is missing`);
      return [typeName, service];
    }),
  );
}

/** Adds the file, after all that it imports: a registry is made in this order. */
function addAfterImports(file: DescFile, into: Set<DescFile>): void {
  if (into.has(file)) return;
  for (const imported of file.dependencies) addAfterImports(imported, into);
  into.add(file);
}

function widened(file: DescFile): FileDescriptorProto {
  const proto = clone(FileDescriptorProtoSchema, file.proto);
  for (const [at, each] of file.enums.entries()) widenEnum(each, proto.enumType[at]);
  const nested = (messages: DescFile["messages"], protos: FileDescriptorProto["messageType"]): void => {
    for (const message of messages) {
      const its = protos.find(({ name }) => name === message.name);
      if (its === undefined) continue;
      for (const each of message.nestedEnums)
        widenEnum(
          each,
          its.enumType.find(({ name }) => name === each.name),
        );
      nested(message.nestedMessages, its.nestedType);
    }
  };
  nested(file.messages, proto.messageType);
  return proto;
}

function widenEnum(desc: DescEnum, proto: FileDescriptorProto["enumType"][number] | undefined): void {
  if (proto === undefined) return;
  const taken = new Set(desc.values.map(({ name }) => name));
  const others = desc.values.flatMap((value) => otherNamesOf(value).map((name) => ({ name, number: value.number })));
  proto.value.push(
    ...others
      .filter(({ name }) => !taken.has(name) && IDENTIFIER.test(name))
      .map((value) => create(EnumValueDescriptorProtoSchema, value)),
  );
}
