import { type DescExtension, getOption, hasOption } from "@bufbuild/protobuf";

type Known = Map<DescExtension, unknown>;

const known = new WeakMap<object, Known>();
/** Of elements that do not set the option. */
const defaults: Known = new Map();

// The types of the library name each kind of element with its own kind of option.
const isSet = hasOption as (...of: [object, DescExtension]) => boolean;
const decoded = getOption as (...of: [object, DescExtension]) => unknown;

/**
 * The value of an option of a field, a method or the like, as `getOption` of the library, which decodes it at each
 * call, and makes a message for it where it is not set: that took longer than all else that is done with a request's
 * field. The value is shared: do not change it.
 */
export const optionOf = ((element: object, option: DescExtension): unknown => {
  if (!isSet(element, option)) return remembered(defaults, element, option);
  let values = known.get(element);
  if (values === undefined) known.set(element, (values = new Map()));
  return remembered(values, element, option);
}) as typeof getOption;

function remembered(values: Known, element: object, option: DescExtension): unknown {
  if (!values.has(option)) values.set(option, decoded(element, option));
  return values.get(option);
}
