package informer

import (
	"reflect"

	"k8s.io/client-go/tools/cache"
)

// Of returns the informer of this package that i is, or that i embeds: the informers that a
// factory's generated accessors return wrap another, and so does [TypedSharedIndexInformer]. ok is
// false if there is none, as for an informer of client-go.
//
//	pods, ok := informer.Of(factory.Core().V1().Pods().Informer())
func Of(i cache.SharedInformer) (ours *SharedIndexInformer, ok bool) {
	for i != nil {
		if ours, ok = i.(*SharedIndexInformer); ok {
			return ours, true
		}
		i = embedded(i)
	}
	return nil, false
}

// embedded returns the informer that a struct embeds, nil if it embeds none.
func embedded(i cache.SharedInformer) cache.SharedInformer {
	v := reflect.Indirect(reflect.ValueOf(i))
	if v.Kind() != reflect.Struct {
		return nil
	}
	for n := range v.NumField() {
		if field := v.Type().Field(n); field.Anonymous && field.IsExported() {
			value := v.Field(n)
			if value.Kind() == reflect.Struct && value.CanAddr() {
				value = value.Addr() // its methods may have the pointer as receiver
			}
			if inner, ok := value.Interface().(cache.SharedInformer); ok {
				return inner
			}
		}
	}
	return nil
}
