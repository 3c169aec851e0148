import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import type { DescEnum, DescExtension, DescFile, DescMessage, DescService, MessageInitShape } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import {
  ServerReflectionRequestSchema,
  ServerReflectionResponseSchema,
} from "@moorage/api/gen/grpc/reflection/v1/reflection_pb";
import type { ServerReflection, ServerReflectionRequest } from "@moorage/api/gen/grpc/reflection/v1/reflection_pb";
import {
  ServerReflectionRequestSchema as AlphaRequestSchema,
  ServerReflectionResponseSchema as AlphaResponseSchema,
} from "@moorage/api/gen/grpc/reflection/v1alpha/reflection_pb";
import type { ServerReflection as AlphaReflection } from "@moorage/api/gen/grpc/reflection/v1alpha/reflection_pb";
import { Code } from "@moorage/kernel/errors";

type Answer = NonNullable<MessageInitShape<typeof ServerReflectionResponseSchema>["messageResponse"]>;

/**
 * What clients can ask for: every file that the services need, by its name, by each full name it declares, and
 * extensions by the message they extend.
 */
interface Index {
  services: string[];
  byName: Map<string, DescFile>;
  bySymbol: Map<string, DescFile>;
  byExtendee: Map<string, Map<number, DescFile>>;
}

/**
 * grpc.reflection.v1 and v1alpha over the descriptors of the services, and of other files that declare what answers
 * carry as `Any`. Source: the gRPC server reflection protocol.
 */
export function reflection(
  services: () => readonly DescService[],
  others: readonly DescFile[],
): {
  v1: ServiceImpl<typeof ServerReflection>;
  v1alpha: ServiceImpl<typeof AlphaReflection>;
} {
  // Made at the first question: few servers are ever asked.
  let made: Index | undefined;
  const index = (): Index => (made ??= indexOf(services(), others));
  const respond = (request: ServerReflectionRequest) =>
    create(ServerReflectionResponseSchema, {
      validHost: request.host,
      originalRequest: request,
      messageResponse: answer(request, index()),
    });
  return {
    v1: {
      async *serverReflectionInfo(requests) {
        for await (const request of requests) yield respond(request);
      },
    },
    v1alpha: {
      // The two versions differ only in the package's name and are the same on the wire.
      async *serverReflectionInfo(requests) {
        for await (const request of requests) {
          const response = respond(fromBinary(ServerReflectionRequestSchema, toBinary(AlphaRequestSchema, request)));
          yield fromBinary(AlphaResponseSchema, toBinary(ServerReflectionResponseSchema, response));
        }
      },
    },
  };
}

function answer({ messageRequest: asked }: ServerReflectionRequest, index: Index): Answer {
  switch (asked.case) {
    case "listServices":
      return { case: "listServicesResponse", value: { service: index.services.map((name) => ({ name })) } };
    case "fileByFilename":
      return files(index.byName.get(asked.value));
    case "fileContainingSymbol":
      return files(index.bySymbol.get(asked.value));
    case "fileContainingExtension":
      return files(index.byExtendee.get(asked.value.containingType)?.get(asked.value.extensionNumber));
    case "allExtensionNumbersOfType": {
      const numbers = index.byExtendee.get(asked.value);
      if (!numbers && !index.bySymbol.has(asked.value)) return notFound();
      return {
        case: "allExtensionNumbersResponse",
        value: { baseTypeName: asked.value, extensionNumber: [...(numbers?.keys() ?? [])] },
      };
    }
    case undefined:
      return {
        case: "errorResponse",
        value: { errorCode: Code.InvalidArgument, errorMessage: "nothing was asked for" },
      };
  }
}

function notFound(): Answer {
  return { case: "errorResponse", value: { errorCode: Code.NotFound, errorMessage: "not found" } };
}

/** The file, then everything it imports. Clients take the first file for the one asked for. */
function files(file: DescFile | undefined): Answer {
  if (!file) return notFound();
  const wanted = new Map<string, DescFile>();
  collect(file, wanted);
  return {
    case: "fileDescriptorResponse",
    value: { fileDescriptorProto: [...wanted.values()].map((each) => toBinary(FileDescriptorProtoSchema, each.proto)) },
  };
}

function collect(file: DescFile, into: Map<string, DescFile>): void {
  if (into.has(file.proto.name)) return;
  into.set(file.proto.name, file);
  for (const dependency of file.dependencies) collect(dependency, into);
}

function indexOf(services: readonly DescService[], others: readonly DescFile[]): Index {
  const index: Index = {
    services: services.map((service) => service.typeName).sort(),
    byName: new Map(),
    bySymbol: new Map(),
    byExtendee: new Map(),
  };
  for (const file of [...services.map((service) => service.file), ...others]) collect(file, index.byName);
  for (const file of index.byName.values()) {
    const name = (symbol: string): void => void index.bySymbol.set(symbol, file);
    for (const message of file.messages) indexMessage(message, file, name, index);
    for (const each of file.enums) indexEnum(each, name);
    for (const extension of file.extensions) indexExtension(extension, file, name, index);
    for (const service of file.services) {
      name(service.typeName);
      for (const method of service.methods) name(`${service.typeName}.${method.name}`);
    }
  }
  return index;
}

function indexMessage(message: DescMessage, file: DescFile, name: (symbol: string) => void, index: Index): void {
  name(message.typeName);
  for (const member of [...message.fields, ...message.oneofs]) name(`${message.typeName}.${member.name}`);
  for (const each of message.nestedEnums) indexEnum(each, name);
  for (const extension of message.nestedExtensions) indexExtension(extension, file, name, index);
  for (const nested of message.nestedMessages) indexMessage(nested, file, name, index);
}

/** Enum values have the scope of their enum, not of its name. */
function indexEnum(each: DescEnum, name: (symbol: string) => void): void {
  name(each.typeName);
  const scope = each.typeName.slice(0, each.typeName.lastIndexOf(".") + 1);
  for (const value of each.values) name(scope + value.name);
}

function indexExtension(extension: DescExtension, file: DescFile, name: (symbol: string) => void, index: Index): void {
  name(extension.typeName);
  const numbers = index.byExtendee.get(extension.extendee.typeName) ?? new Map<number, DescFile>();
  index.byExtendee.set(extension.extendee.typeName, numbers.set(extension.number, file));
}
