import { type DescMethod, getOption } from "@bufbuild/protobuf";
import { access, type Capability } from "@moorage/api";

/**
 * The capabilities that a method needs, all of them, as its access option names them. Options are slow to read: to be
 * asked once a method. Throws where it names none.
 */
export function neededFor(method: DescMethod): readonly Capability[] {
  const { capabilities } = getOption(method, access);
  if (capabilities.length === 0) throw new Error(`the access rule of ${method.toString()} names no capability`);
  return capabilities;
}
