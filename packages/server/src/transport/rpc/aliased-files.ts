import { clone, create, createFileRegistry, type DescFile, type DescService } from "@bufbuild/protobuf";
import {
  type DescriptorProto,
  type FileDescriptorProto,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
} from "@bufbuild/protobuf/wkt";
import { aliasedName, OWN_PREFIX } from "@moorage/kernel/core/aliased-name";

/**
 * The services under an alias, with the files that a client needs to call them by reflection: copies of ours whose
 * packages, and so all full names in them, begin with the alias. Files that declare options of `.proto` files stay as
 * they are, because a number of an option can be declared only once.
 */
export function aliasedServices(services: readonly DescService[], alias: string): DescService[] {
  const files = new Set<DescFile>();
  for (const service of services) addAfterImports(service.file, files);
  const renamed = new Set([...files].filter(isRenamed).map(({ proto }) => proto.name));
  const types = new Set([...files].filter(isRenamed).flatMap((file) => namesIn(file.proto)));
  const copies = [...files].filter(isRenamed).map((each) => copyOf(each, alias, { renamed, types }));
  // What stays as it is may need types that are copied.
  const file = [...[...files].map(({ proto }) => proto), ...copies];
  const registry = createFileRegistry(create(FileDescriptorSetSchema, { file }));
  return services.flatMap(({ typeName }) => {
    if (!typeName.startsWith(OWN_PREFIX)) return [];
    const service = registry.getService(aliasedName(typeName, alias));
    if (service === undefined) throw new Error(`${typeName} is missing under ${alias}`);
    return [service];
  });
}

/** What of a file's imports is renamed as well: files by their names, types by their full names. */
interface Renamed {
  renamed: ReadonlySet<string>;
  types: ReadonlySet<string>;
}

function isRenamed({ proto, extensions }: DescFile): boolean {
  return proto.package.startsWith(OWN_PREFIX) && extensions.length === 0;
}

/** Adds the file, after all that it imports: a registry is made in this order. */
function addAfterImports(file: DescFile, into: Set<DescFile>): void {
  if (into.has(file)) return;
  for (const imported of file.dependencies) addAfterImports(imported, into);
  into.add(file);
}

/** The full names of the messages and enums that a file declares. */
function namesIn({ package: scope, messageType, enumType }: FileDescriptorProto): string[] {
  const within = (at: string, { name, nestedType, enumType: enums }: DescriptorProto): string[] => [
    `${at}.${name}`,
    ...enums.map((each) => `${at}.${name}.${each.name}`),
    ...nestedType.flatMap((each) => within(`${at}.${name}`, each)),
  ];
  return [...messageType.flatMap((each) => within(scope, each)), ...enumType.map((each) => `${scope}.${each.name}`)];
}

function copyOf(file: DescFile, alias: string, { renamed, types }: Renamed): FileDescriptorProto {
  const fileName = (name: string): string =>
    renamed.has(name) ? `${alias.replaceAll(".", "/")}/${name.slice(OWN_PREFIX.length)}` : name;
  // Descriptors have the names of types with a dot before them.
  const typeName = (name: string): string =>
    types.has(name.slice(1)) ? `.${aliasedName(name.slice(1), alias)}` : name;
  const proto = clone(FileDescriptorProtoSchema, file.proto);
  proto.name = fileName(proto.name);
  proto.package = aliasedName(proto.package, alias);
  proto.dependency = proto.dependency.map(fileName);
  const rename = (message: DescriptorProto): void => {
    for (const field of message.field) field.typeName &&= typeName(field.typeName);
    for (const nested of message.nestedType) rename(nested);
  };
  for (const message of proto.messageType) rename(message);
  for (const method of proto.service.flatMap((service) => service.method)) {
    method.inputType = typeName(method.inputType);
    method.outputType = typeName(method.outputType);
  }
  return proto;
}
