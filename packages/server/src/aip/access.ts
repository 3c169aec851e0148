import { type DescMethod, getOption } from "@bufbuild/protobuf";
import { access, type Capability } from "@moorage/api";

/**
 * The capabilities that a method needs, all of them, as its access option names them. Reading options is slow: call
 * this once per method and store the result. Throws if the method names no capability.
 */
export function neededFor(method: DescMethod): readonly Capability[] {
  const { capabilities } = getOption(method, access);
  if (capabilities.length === 0) throw new Error(`the access rule of ${method.toString()} names no capability`);
  return capabilities;
}
