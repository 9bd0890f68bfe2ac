/** True for text that every store keeps as it is: well-formed, without NUL. */
export const isStorableText = (text: string): boolean => !text.includes("\0") && text.isWellFormed();
