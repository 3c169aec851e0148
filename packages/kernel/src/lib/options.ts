import { type DescExtension, getOption } from "@bufbuild/protobuf";

const known = new WeakMap<object, Map<DescExtension, unknown>>();

/**
 * The value of an option of a field, a method or the like, as `getOption` of the library, which decodes it at each
 * call: that took longer than all else that is done with a request's field. The value is shared: do not change it.
 */
export const optionOf = ((element: object, option: DescExtension): unknown => {
  let values = known.get(element);
  if (values === undefined) known.set(element, (values = new Map<DescExtension, unknown>()));
  if (!values.has(option))
    values.set(option, (getOption as (...of: [object, DescExtension]) => unknown)(element, option));
  return values.get(option);
}) as typeof getOption;
