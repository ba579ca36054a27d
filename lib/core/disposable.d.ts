// TypeScript 5.2 and later declare these in the library `esnext.disposable`. Equal declarations merge. Declared here,
// they let the declarations of this package compile with older versions of TypeScript and without that library.
interface SymbolConstructor {
  readonly dispose: unique symbol
  readonly asyncDispose: unique symbol
}
interface Disposable {
  [Symbol.dispose](): void
}
interface AsyncDisposable {
  [Symbol.asyncDispose](): PromiseLike<void>
}
