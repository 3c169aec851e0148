import type { DescService } from "@bufbuild/protobuf";
import { Health } from "@moorage/api/gen/health/v1/health_pb";
import { ServerReflection } from "@moorage/api/gen/grpc/reflection/v1/reflection_pb";
import { ServerReflection as AlphaReflection } from "@moorage/api/gen/grpc/reflection/v1alpha/reflection_pb";
import type { Request } from "../../core/http.ts";

const OWN_PREFIX = "moorage.";

/** The full name, or a path that begins with it, unchanged and below each alias. */
export function withAliases(name: string, aliases: readonly string[]): string[] {
  if (!name.startsWith(OWN_PREFIX)) return [name];
  return [name, ...aliases.map((alias) => `${alias}.${name.slice(OWN_PREFIX.length)}`)];
}

/** Every name of each service, aliases included, with the service's own name; health and reflection are among them. */
export function trueNamesOf(services: readonly DescService[], aliases: readonly string[]): Map<string, string> {
  return new Map(
    [...services, Health, ServerReflection, AlphaReflection].flatMap(({ typeName }) =>
      withAliases(typeName, aliases).map((name) => [name, typeName]),
    ),
  );
}

export function pathOf(request: Request): string {
  return request.url?.split("?", 1)[0] ?? "";
}

export function serviceOf(request: Request): string {
  return pathOf(request).split("/", 2)[1] ?? "";
}
